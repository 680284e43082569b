import { useEffect, useRef } from "react";
import { Seat, useViews } from "./Seat";

/** Everything that a person decides on, or has opened. */
const DECISIONS = ".ask, .veil, [data-decision]";

/** The seat over the page. It keeps clear of every card: where it would lie over one, it is not shown. */
export const Overlay = () => {
  const views = useViews();
  const place = useRef<HTMLDivElement>(null);
  const used = views.some((one) => one.slot === "shell.overlay");

  useEffect(() => {
    const box = place.current;
    if (!box) return;
    const look = () => {
      const own = box.getBoundingClientRect();
      const meets = [...document.querySelectorAll(DECISIONS)].some((one) => {
        const other = one.getBoundingClientRect();
        return other.width > 0 && other.height > 0 && own.left < other.right && other.left < own.right && own.top < other.bottom && other.top < own.bottom;
      });
      box.classList.toggle("away", meets);
      box.inert = meets;
    };
    look();
    // before each frame that shows a change of the page, so that no frame shows both
    const watch = new MutationObserver(look);
    watch.observe(document.body, { childList: true, subtree: true });
    const sizes = new ResizeObserver(look);
    sizes.observe(document.body);
    sizes.observe(box);
    const timer = setInterval(look, 250);
    addEventListener("scroll", look, { capture: true, passive: true });
    return () => {
      watch.disconnect();
      sizes.disconnect();
      clearInterval(timer);
      removeEventListener("scroll", look, { capture: true });
    };
  }, [used]);

  if (!used) return null;
  return (
    <div className="half-overlay" ref={place}>
      <Seat name="shell.overlay" />
    </div>
  );
};
