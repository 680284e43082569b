import { useState } from "react";
import { channelName, whoName } from "../ask/Seal";
import { oneLine } from "../text/visible";
import { Icon, Status } from "../theme/icons";
import type { PluginView } from "../wire/shapes";
import type { ConsentGiven } from "../wire/types";
import { useHouse } from "../wire/useHouse";
import { stamp } from "../words/times";
import { useWords } from "../words/words";

const Row = ({ plugin, given, online }: { plugin: string; given: ConsentGiven; online: boolean }) => {
  const house = useHouse();
  const words = useWords();
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const wide = given.package === null;
  const what = wide ? words.plugin.field.future! : given.width === "future" ? given.package! : words.plugin.onlyThis(given.package!);
  const revoke = async () => {
    setBusy(true);
    const undone = await house.plugins.revoke(plugin, given.package === null ? { future: true } : { package: given.package });
    setBusy(false);
    setTrouble(undone && words.plugin.undone(undone.refused));
  };
  return (
    <tr>
      <td>
        <code>{plugin}</code>
      </td>
      <td>
        <Status hue={wide ? "wait" : "allow"} icon={wide ? "repeat" : "pen"}>
          {what}
        </Status>
        {trouble && (
          <p className="hold" role="alert">
            <Icon name="alert" />
            <span>{oneLine(trouble, 300)}</span>
          </p>
        )}
      </td>
      <td>
        {oneLine(whoName({ who: given.who }, words), 40)}
        <span className="sub num">
          {stamp(given.at, Date.now(), words.code, words.time.today)}, {channelName(given.channel, words)}
        </span>
      </td>
      <td>
        <button type="button" className="btn small" disabled={busy || !online} aria-label={words.plugin.revokeOf(`${plugin}, ${what}`)} onClick={() => void revoke()}>
          {words.plugin.revoke}
        </button>
      </td>
    </tr>
  );
};

/** Every yes that is in force: how wide, by whom, since when, and the way to take it back. */
export const Agreed = ({ plugins, online }: { plugins: readonly PluginView[]; online: boolean }) => {
  const words = useWords();
  const all = plugins.flatMap((one) => one.consents.map((given) => ({ plugin: one.plugin, given })));
  if (!all.length) return null;
  return (
    <section aria-labelledby="agreed-h">
      <h2 className="eyebrow" id="agreed-h">
        {words.plugin.agreed}
      </h2>
      <div className="tbl">
        <table className="grants">
          <thead>
            <tr>
              <th scope="col">{words.plugin.agreedPlugin}</th>
              <th scope="col">{words.plugin.agreedWide}</th>
              <th scope="col">{words.plugin.agreedSince}</th>
              <th scope="col">
                <span className="vh">{words.plugin.agreedAct}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map(({ plugin, given }) => (
              <Row key={`${plugin} ${given.width} ${given.package}`} plugin={plugin} given={given} online={online} />
            ))}
          </tbody>
        </table>
      </div>
      <p className="sub agreed-n">{words.plugin.revokeNote}</p>
    </section>
  );
};
