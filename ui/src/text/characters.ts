/** Names of characters that do not show themselves. `short` stands in the mark, `long` explains it. */
export interface CharacterName {
  short: string;
  long: string;
  kind: "control" | "bidi" | "invisible" | "blank";
}

const table: Record<number, CharacterName> = {};
const add = (kind: CharacterName["kind"], rows: string) => {
  for (const row of rows.trim().split("\n")) {
    const [code, short, ...long] = row.trim().split(" ");
    table[Number.parseInt(code!, 16)] = { kind, short: short!, long: long.join(" ") };
  }
};

add(
  "control",
  `0 NUL null
1 SOH start of heading
2 STX start of text
3 ETX end of text
4 EOT end of transmission
5 ENQ enquiry
6 ACK acknowledge
7 BEL bell
8 BS backspace
b VT vertical tab
c FF form feed
d CR carriage return
e SO shift out
f SI shift in
10 DLE data link escape
11 DC1 device control 1
12 DC2 device control 2
13 DC3 device control 3
14 DC4 device control 4
15 NAK negative acknowledge
16 SYN synchronous idle
17 ETB end of block
18 CAN cancel
19 EM end of medium
1a SUB substitute
1b ESC escape
1c FS file separator
1d GS group separator
1e RS record separator
1f US unit separator
7f DEL delete
85 NEL next line
9b CSI control sequence introducer
9d OSC operating system command
2028 LS line separator
2029 PS paragraph separator`,
);
add(
  "bidi",
  `61c ALM Arabic letter mark
200e LRM left-to-right mark
200f RLM right-to-left mark
202a LRE left-to-right embedding
202b RLE right-to-left embedding
202c PDF end of embedding
202d LRO left-to-right override
202e RLO right-to-left override
2066 LRI left-to-right isolate
2067 RLI right-to-left isolate
2068 FSI first strong isolate
2069 PDI end of isolate`,
);
add(
  "invisible",
  `ad SHY soft hyphen
34f CGJ combining grapheme joiner
115f HF Hangul filler
1160 HF Hangul filler
17b4 KIV Khmer inherent vowel
17b5 KIV Khmer inherent vowel
180e MVS Mongolian vowel separator
200b ZWSP zero-width space
200c ZWNJ zero-width non-joiner
200d ZWJ zero-width joiner
2060 WJ word joiner
2061 FA function application
2062 IT invisible times
2063 IS invisible separator
2064 IP invisible plus
2800 BRAILLE blank braille pattern
3164 HF Hangul filler
feff BOM zero-width no-break space
ffa0 HF halfwidth Hangul filler
fffc OBJ object replacement`,
);
add(
  "blank",
  `a0 NBSP no-break space
1680 OGHAM Ogham space
2000 ENQUAD en quad
2001 EMQUAD em quad
2002 ENSP en space
2003 EMSP em space
2004 3/EM three-per-em space
2005 4/EM four-per-em space
2006 6/EM six-per-em space
2007 FIGSP figure space
2008 PUNCSP punctuation space
2009 THINSP thin space
200a HAIRSP hair space
202f NNBSP narrow no-break space
205f MATHSP mathematical space
3000 IDSP ideographic space`,
);

export const codeName = (code: number): string => `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;

/** What a character that cannot be seen is called, or null where the character shows itself. */
export const hiddenName = (code: number): CharacterName | null => {
  const known = table[code];
  if (known) return known;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return { kind: "control", short: codeName(code), long: "control character" };
  if (code < 0x300) return null;
  if (code >= 0xd800 && code <= 0xdfff) return { kind: "control", short: codeName(code), long: "half of a character" };
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef)) return { kind: "invisible", short: "VS", long: "variation selector" };
  if (code >= 0xe0000 && code <= 0xe007f) {
    const shown = code > 0xe0020 && code < 0xe007f ? ` ${String.fromCharCode(code - 0xe0000)}` : "";
    return { kind: "invisible", short: `TAG${shown}`, long: "invisible tag character" };
  }
  const letter = String.fromCodePoint(code);
  if (/\p{Cf}|\p{Default_Ignorable_Code_Point}/u.test(letter)) return { kind: "invisible", short: codeName(code), long: "invisible character" };
  if (/\p{Cn}|\p{Co}/u.test(letter)) return { kind: "control", short: codeName(code), long: "character without a known form" };
  if (/\p{Z}/u.test(letter)) return { kind: "blank", short: codeName(code), long: "kind of space" };
  return null;
};

const confusable = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}\p{Script=Deseret}\p{Script=Georgian}\u{ff01}-\u{ff5e}\u{1d400}-\u{1d7ff}\u{2100}-\u{214f}\u{2460}-\u{24ff}\u{0131}\u{0237}\u{0251}\u{0261}\u{0269}\u{01c0}-\u{01c3}\u{2010}-\u{2015}\u{2018}-\u{201f}\u{2024}\u{2044}\u{2212}\u{2215}\u{2216}\u{2223}\u{29f5}\u{29f8}\u{a789}\u{037e}\u{0589}\u{05c3}\u{066a}\u{066b}\u{2039}\u{203a}\u{276f}\u{ff5c}]/u;

/** True for a character outside ASCII that can pass for one inside it. */
export const looksAlike = (letter: string): boolean => confusable.test(letter);

const scripts = ["Latin", "Cyrillic", "Greek", "Han", "Hiragana", "Katakana", "Hangul", "Arabic", "Hebrew", "Armenian", "Devanagari", "Thai"] as const;
const scriptTests = scripts.map((name) => [name, new RegExp(`\\p{Script=${name}}`, "u")] as const);

export const scriptOf = (letter: string): string => scriptTests.find(([, test]) => test.test(letter))?.[0] ?? "";
