import { Sheet } from "../shell/Sheet";
import { Icon } from "../theme/icons";
import { useWords } from "../words/words";

/** Full access is a person's own step: it says what is switched off, and neither answer is first by habit. */
export const ConfirmFull = ({ open, now, onStay, onSwitch }: { open: boolean; now: string; onStay: () => void; onSwitch: () => void }) => {
  const words = useWords();
  return (
    <Sheet open={open} onClose={onStay} title={words.full.title} alert>
      <ul className="flags full">
        <li>
          <Icon name="alert" />
          <span>
            <b>{words.full.off}</b> {words.full.offText}
          </span>
        </li>
        <li>
          <Icon name="alert" />
          <span>
            <b>{words.full.silent}</b> {words.full.silentText}
          </span>
        </li>
      </ul>
      <p className="sub">{words.full.back}</p>
      <div className="pair">
        <button type="button" className="btn" onClick={onStay}>
          {words.full.stay(now)}
        </button>
        <button type="button" className="btn stop" onClick={onSwitch}>
          {words.full.yes}
        </button>
      </div>
    </Sheet>
  );
};
