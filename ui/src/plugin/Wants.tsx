import { Status } from "../theme/icons";
import { oneLine } from "../text/visible";
import type { ConsentCode } from "../wire/shapes";
import { useWords } from "../words/words";
import { type HalfName, isNew } from "./reading";

interface Wish {
  half: HalfName;
  name: string;
  text: string;
}

/** What the code names of the services and seats that there are; found by reading it, not by trusting it. */
export const Wants = ({ code }: { code: ConsentCode }) => {
  const words = useWords();
  const wishes: Wish[] = [
    ...code.wants.seats.map((name): Wish => ({ half: "client", name, text: words.plugin.seat[name] ?? words.plugin.seatOther })),
    ...code.wants.client
      .filter((name) => name !== "slots" || code.wants.seats.length === 0) // said by the seats themselves
      .map((name): Wish => ({ half: "client", name, text: words.plugin.clientService[name] ?? words.plugin.serviceOther })),
    ...code.wants.host.map((name): Wish => ({ half: "host", name, text: words.plugin.service[name] ?? words.plugin.serviceOther })),
  ];
  return (
    <div className="art">
      <dt>{words.plugin.wants}</dt>
      <dd>
        {wishes.length > 0 && (
          <table className="wants">
            <caption className="vh">{words.plugin.wantsCaption}</caption>
            <thead>
              <tr>
                <th scope="col">{words.plugin.wantsHalf}</th>
                <th scope="col">{words.plugin.wantsWhat}</th>
                <th scope="col">{words.plugin.wantsLets}</th>
              </tr>
            </thead>
            <tbody>
              {wishes.map((wish) => (
                <tr key={`${wish.half} ${wish.name}`}>
                  <td>{words.plugin.halfShort[wish.half]}</td>
                  <td>
                    <code>{oneLine(wish.name, 60)}</code>{" "}
                    {isNew(wish.name, wish.half, code.before) && (
                      <Status hue="wait" icon="plus" tag>
                        {words.plugin.isNew}
                      </Status>
                    )}
                  </td>
                  <td>{wish.text}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <p className="plain">
          {wishes.length ? words.plugin.wantsFound : words.plugin.wantsNothing} {code.signed.client !== null && words.plugin.wantsNever}
        </p>
      </dd>
    </div>
  );
};
