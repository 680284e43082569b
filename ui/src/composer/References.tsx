import { oneLine } from "../text/visible";
import { useWords } from "../words/words";
import type { Reference } from "./references";

/** The list from which a plugin's id is completed; the field above keeps the focus. */
export const References = ({ id, found, at, onPick }: { id: string; found: readonly Reference[]; at: number; onPick: (reference: Reference) => void }) => {
  const words = useWords();
  return (
    <ul className="refs" role="listbox" id={id} aria-label={words.plugin.references}>
      {found.map((one, index) => (
        <li
          key={one.id}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === at}
          onPointerDown={(event) => {
            event.preventDefault(); // the caret stays where it is
            onPick(one);
          }}
        >
          <code>@{one.id}</code>
          <span>
            {oneLine(one.name, 60)} · {oneLine(one.purpose, 120)}
          </span>
        </li>
      ))}
    </ul>
  );
};
