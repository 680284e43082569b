import { Fields, Sent, mainName } from "../ask/Fields";
import type { Form } from "../ask/form";
import { Code } from "../text/Visible";
import { useWords } from "../words/words";
import { tall } from "./tall";

/** A call of one of placet's file tools, by its fields: the card of the ask in a smaller room, and nothing left out. */
export const FormPart = ({ form, raw }: { form: Form; raw: string }) => {
  const words = useWords();
  const { main } = form;
  return (
    <div className="fields">
      <Fields fields={form.fields} />
      {main?.empty && <p className="main-name">{words.ask.newTextEmpty}</p>}
      {main && !main.empty && <Code shown={main.shown} label={mainName(form, words)} tall={tall(main.shown)} scrolls={tall(main.shown)} signs={main.signs} />}
      <Sent raw={raw} />
    </div>
  );
};
