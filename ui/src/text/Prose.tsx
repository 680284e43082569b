import { type ReactNode, memo, useMemo } from "react";
import { VisibleText } from "./Visible";

type Block = { kind: "code"; text: string } | { kind: "list"; ordered: boolean; items: string[] } | { kind: "heading" | "paragraph"; text: string };

const MOST = 200_000;

/** Splits an agent's text into fenced code, lists, headings and paragraphs. Nothing else of Markdown is known: no links, no images, no markup. */
export const blocksOf = (text: string): Block[] => {
  const blocks: Block[] = [];
  const lines = text.split("\n");
  let paragraph: string[] = [];
  const flush = () => {
    if (paragraph.length) blocks.push({ kind: "paragraph", text: paragraph.join("\n") });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    const fence = /^ {0,3}(`{3,})/.exec(line)?.[1];
    if (fence) {
      flush();
      const code: string[] = [];
      for (at += 1; at < lines.length && !lines[at]!.trimStart().startsWith(fence); at += 1) code.push(lines[at]!);
      blocks.push({ kind: "code", text: code.join("\n") });
      continue;
    }
    const heading = /^#{1,6} (.+)$/.exec(line)?.[1];
    if (heading) {
      flush();
      blocks.push({ kind: "heading", text: heading });
      continue;
    }
    const item = /^ {0,3}(?:[-*]|(\d{1,4})[.)]) (.+)$/.exec(line);
    if (item) {
      flush();
      const ordered = item[1] !== undefined;
      const last = blocks.at(-1);
      if (last?.kind === "list" && last.ordered === ordered && lines[at - 1]?.trim()) last.items.push(item[2]!);
      else blocks.push({ kind: "list", ordered, items: [item[2]!] });
      continue;
    }
    if (!line.trim()) flush();
    else paragraph.push(line);
  }
  flush();
  return blocks;
};

const Inline = ({ text }: { text: string }): ReactNode =>
  text.split(/(`[^`\n]{1,2000}`|\*\*[^*\n]{1,2000}\*\*)/).map((part, index) => {
    if (part.length > 2 && part.startsWith("`") && part.endsWith("`"))
      return (
        <code key={index}>
          <VisibleText text={part.slice(1, -1)} />
        </code>
      );
    if (part.length > 4 && part.startsWith("**") && part.endsWith("**"))
      return (
        <b key={index}>
          <VisibleText text={part.slice(2, -2)} />
        </b>
      );
    return <VisibleText key={index} text={part} />;
  });

/** An agent's text, safe by construction: every letter of it becomes a text node. */
export const Prose = memo(({ text, tail }: { text: string; tail?: ReactNode }) => {
  const blocks = useMemo(() => blocksOf(text.slice(0, MOST)), [text]);
  const last = blocks.length - 1;
  return (
    <>
      {blocks.map((block, index) => {
        const end = index === last ? tail : null;
        switch (block.kind) {
          case "code":
            return (
              <pre key={index} className="fence" tabIndex={0}>
                <VisibleText text={block.text} />
                {end}
              </pre>
            );
          case "list": {
            const items = block.items.map((item, at) => (
              <li key={at}>
                <Inline text={item} />
                {at === block.items.length - 1 && end}
              </li>
            ));
            return block.ordered ? (
              <ol key={index} className="list">
                {items}
              </ol>
            ) : (
              <ul key={index} className="list">
                {items}
              </ul>
            );
          }
          case "heading":
            return (
              <p key={index} className="told-head">
                <b>
                  <Inline text={block.text} />
                </b>
                {end}
              </p>
            );
          case "paragraph":
            return (
              <p key={index} className="told">
                <Inline text={block.text} />
                {end}
              </p>
            );
        }
      })}
      {blocks.length === 0 && tail && <p>{tail}</p>}
      {text.length > MOST && <pre className="fence">{text.slice(MOST)}</pre>}
    </>
  );
});
