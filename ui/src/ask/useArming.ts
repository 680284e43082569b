import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Arming } from "./arming";

/** Milliseconds between two looks where no frame is drawn, as in a page that lies behind another. */
const LOOK = 37;

interface Spot {
  x: number;
  y: number;
  width: number;
  height: number;
}

const spotOf = (element: Element): Spot => {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height };
};
const moved = (a: Spot, b: Spot): boolean =>
  Math.abs(a.x - b.x) > 1 || Math.abs(a.y - b.y) > 1 || Math.abs(a.width - b.width) > 1 || Math.abs(a.height - b.height) > 1;

/** True where something else lies over a field of `place` that is on screen: a press there would not be meant for it. */
const covered = (place: Element): boolean => {
  for (const field of place.querySelectorAll(".act")) {
    const { x, y, width, height } = field.getBoundingClientRect();
    for (const part of [0.1, 0.5, 0.9]) {
      const there = document.elementFromPoint(x + width * part, y + height / 2);
      if (there && !place.contains(there)) return true;
    }
  }
  return false;
};

/** The handlers of one field to sign. They are the only way in: the field has no click of its own. */
export interface FieldHandlers {
  onPointerDown: (event: React.PointerEvent<HTMLElement>) => void;
  onPointerUp: (event: React.PointerEvent<HTMLElement>) => void;
  onPointerCancel: () => void;
  onKeyDown: (event: React.KeyboardEvent<HTMLElement>) => void;
  onKeyUp: (event: React.KeyboardEvent<HTMLElement>) => void;
  onBlur: () => void;
  onClick: (event: React.MouseEvent<HTMLElement>) => void;
}

/**
 * Arms the fields inside `place` 400 ms after they appear, move, are replaced (`identity` changes), are resized, or come out from
 * under whatever lay over them: a press that was meant for a sheet that went away under the hand never signs.
 */
export const useArming = (place: RefObject<HTMLElement | null>, identity: string) => {
  const arming = useRef<Arming>(null as unknown as Arming);
  arming.current ??= new Arming(performance.now());
  const spot = useRef<Spot | null>(null);
  const hidden = useRef(false);
  const [round, setRound] = useState(0);
  const [armed, setArmed] = useState(false);

  const reset = useCallback(() => {
    arming.current.reset(performance.now());
    spot.current = place.current ? spotOf(place.current) : null;
    setArmed(false);
    setRound((n) => n + 1);
  }, [place]);

  /** True where the fields still lie where they were armed; otherwise arms anew. */
  const still = useCallback((): boolean => {
    if (!place.current) return false;
    const now = spotOf(place.current);
    if (!hidden.current && spot.current && !moved(spot.current, now)) return true;
    hidden.current = false;
    reset();
    return false;
  }, [place, reset]);

  const uncovered = useCallback((): boolean => {
    if (!place.current || !covered(place.current)) return true;
    hidden.current = true;
    arming.current.reset(performance.now());
    setArmed(false);
    return false;
  }, [place]);

  useLayoutEffect(reset, [reset, identity]);

  /** Look again: a field that lay still long enough is armed, however early or late a timer came. */
  const check = useCallback((): void => {
    if (!(hidden.current && !uncovered()) && still()) setArmed(arming.current.armed(performance.now()));
  }, [still, uncovered]);

  useEffect(() => {
    const timer = setTimeout(check, arming.current.left(performance.now()) + 1);
    return () => clearTimeout(timer);
  }, [round, check]);

  useEffect(() => {
    const shown = () => document.visibilityState === "visible" && reset();
    const watch = new ResizeObserver(check);
    if (place.current) watch.observe(place.current);
    const timer = setInterval(() => {
      uncovered();
      check();
    }, LOOK);
    let frame = requestAnimationFrame(function look() {
      check(); // with every frame, so that what moves to and fro between two of them is seen moving
      frame = requestAnimationFrame(look);
    });
    addEventListener("scroll", check, { capture: true, passive: true });
    addEventListener("resize", check);
    document.addEventListener("visibilitychange", shown);
    return () => {
      watch.disconnect();
      clearInterval(timer);
      cancelAnimationFrame(frame);
      removeEventListener("scroll", check, { capture: true });
      removeEventListener("resize", check);
      document.removeEventListener("visibilitychange", shown);
    };
  }, [place, check, reset, uncovered]);

  const handlers = useMemo(() => {
    const release = (field: string, event: Event, sign: () => void) => {
      if (still() && arming.current.up({ field, trusted: event.isTrusted, repeat: false, at: performance.now() })) sign();
    };
    return (field: string, sign: () => void): FieldHandlers => ({
      onPointerDown: (event) => {
        if (event.button !== 0 || !event.isPrimary || !still()) return arming.current.cancel();
        if (event.currentTarget.hasPointerCapture(event.pointerId)) event.currentTarget.releasePointerCapture(event.pointerId);
        arming.current.down({ field, trusted: event.nativeEvent.isTrusted, repeat: false, at: performance.now() });
      },
      onPointerUp: (event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const inside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
        if (inside) release(field, event.nativeEvent, sign);
        else arming.current.cancel();
      },
      onPointerCancel: () => arming.current.cancel(),
      onKeyDown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        if (event.repeat || event.ctrlKey || event.altKey || event.metaKey || !still()) return arming.current.cancel();
        arming.current.down({ field: `${field}${event.key}`, trusted: event.nativeEvent.isTrusted, repeat: event.repeat, at: performance.now() });
      },
      onKeyUp: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        release(`${field}${event.key}`, event.nativeEvent, sign);
      },
      onBlur: () => arming.current.cancel(),
      onClick: (event) => {
        event.preventDefault();
        // Assistive technology presses without pointer or key: one trusted click, complete in itself.
        const native = event.nativeEvent as PointerEvent;
        if (native.detail !== 0 || native.pointerType || !native.isTrusted || !still()) return;
        arming.current.down({ field, trusted: true, repeat: false, at: performance.now() });
        release(field, native, sign);
      },
    });
  }, [still]);

  return { armed, round, handlers };
};
