import { Ids } from "../text/Ids";
import { Icon, type Hue, type IconName } from "../theme/icons";
import type { FieldHandlers } from "./useArming";

interface FieldProps {
  hue: Hue;
  icon: IconName;
  word: string;
  /** The echo below the word, which is not translated. */
  latin?: string;
  /** What follows from it, in a few words. */
  why?: string;
  closed: boolean;
  describedBy?: string;
  handlers: FieldHandlers;
}

/** One field to sign: icon, word and place tell it apart; it takes no press before it is armed, and none at all while it is closed. */
export const Field = ({ hue, icon, word, latin, why, closed, describedBy, handlers }: FieldProps) => (
  <button type="button" className={`act c-${hue}`} aria-disabled={closed || undefined} aria-describedby={describedBy} {...(closed ? {} : handlers)}>
    <Icon name={icon} />
    <b>{word}</b>
    {latin && <em lang="la">{latin}</em>}
    {why && (
      <span className="why">
        <Ids text={why} />
      </span>
    )}
  </button>
);

/** The class of a row of fields: a line is drawn under them while they arm. */
export const actsClass = (armed: boolean, closed: boolean, round: number): string => `acts${armed || closed ? "" : ` arming live${round % 2 ? " odd" : ""}`}`;
