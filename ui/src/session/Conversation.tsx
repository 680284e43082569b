import { type ReactNode, memo, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useWords } from "../words/words";
import { VisibleText } from "../text/Visible";
import type { Outgoing } from "../wire/state";
import type { Talk } from "./fold";
import { Minutes } from "./Minutes";

export interface ConversationProps {
  talk: Talk;
  partial: { turn: number; step: number; text: string } | null;
  /** More events lie before those loaded. */
  older: boolean;
  onOlder: () => Promise<void>;
  onAsk: (id: string) => void;
  /** Messages of this page that the log does not hold yet. */
  outbox: Outgoing[];
  onAgain: (id: string) => void;
  /** Stands behind the last entry. */
  tail?: ReactNode;
}

const NEAR = 80;

/** The scrolling part of a session: stays at the newest entry until the person scrolls away, comes back to it when they say something, and reads earlier ones on request. */
export const Conversation = memo(({ talk, partial, older, onOlder, onAsk, outbox, onAgain, tail }: ConversationProps) => {
  const words = useWords();
  const frame = useRef<HTMLElement>(null);
  const stick = useRef(true);
  const [away, setAway] = useState(false);
  const [reading, setReading] = useState(false);
  const first = useRef("");
  const height = useRef(0);
  const top = useRef(0);
  const sent = useRef(0);

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    const begin = talk.order[0] ?? "";
    if (outbox.length > sent.current) stick.current = true; // who says something wants to see what comes of it
    sent.current = outbox.length;
    if (stick.current) box.scrollTop = box.scrollHeight;
    else if (begin !== first.current) box.scrollTop += box.scrollHeight - height.current;
    first.current = begin;
    height.current = box.scrollHeight;
  });

  useEffect(() => {
    const box = frame.current;
    if (!box) return;
    const watch = new ResizeObserver(() => {
      if (stick.current) box.scrollTop = box.scrollHeight;
    });
    watch.observe(box);
    if (box.firstElementChild) watch.observe(box.firstElementChild); // cards grow by themselves, without news from the log
    return () => watch.disconnect();
  }, []);

  const onScroll = () => {
    const box = frame.current!;
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    // Only somebody who goes up leaves the end; what grows below it does not.
    if (near || box.scrollTop < top.current) stick.current = near;
    top.current = box.scrollTop;
    setAway(!stick.current);
  };
  const readOlder = useCallback(async () => {
    setReading(true);
    stick.current = false;
    await onOlder();
    setReading(false);
  }, [onOlder]);

  return (
    <main className="main" id="conversation" ref={frame} tabIndex={0} aria-label={words.shell.conversation} onScroll={onScroll} data-region="">
      <div className="minutes">
        {older ? (
          <p className="older">
            <button type="button" className="btn small quiet" disabled={reading} onClick={() => void readOlder()}>
              {reading ? words.said.loadingOlder : words.said.older}
            </button>
          </p>
        ) : (
          talk.order.length > 0 && <p className="note-line begin">{words.said.start}</p>
        )}
        {talk.order.length === 0 && <p className="sub">{words.said.empty}</p>}
        <Minutes talk={talk} partial={partial} onAsk={onAsk} />
        {outbox.map((one) => (
          <div className="say you" key={one.id}>
            <p className="who">{words.said.you}</p>
            <div className="body">
              <p className="told waits">
                <VisibleText text={one.text} />
              </p>
              <p className="note-line" role="status">
                {one.state === "sending" ? (
                  words.said.sending
                ) : (
                  <>
                    <b>{words.said.notSent}</b>
                    <button type="button" className="link" onClick={() => onAgain(one.id)}>
                      {words.said.sendAgain}
                    </button>
                  </>
                )}
              </p>
            </div>
          </div>
        ))}
        {tail}
      </div>
      {away && (
        <p className="jump">
          <button
            type="button"
            className="btn small"
            onClick={() => {
              stick.current = true;
              frame.current!.scrollTop = frame.current!.scrollHeight;
              setAway(false);
            }}
          >
            {words.said.jump}
          </button>
        </p>
      )}
    </main>
  );
});
