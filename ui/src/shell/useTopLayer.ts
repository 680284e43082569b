import { useCallback } from "react";

/** Shows an element in the browser's top layer for as long as it is in the page: nothing outside that layer can be drawn over it. */
export const useTopLayer = () =>
  useCallback((element: HTMLElement | null) => {
    if (!element || !("showPopover" in element)) return; // then it is the last of the page's own layers
    element.popover = "manual"; // nothing but its owner closes it
    element.showPopover();
  }, []);
