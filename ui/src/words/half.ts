import { useWords } from "./words";

/** What the page says around what plugins draw, in its three languages. */
const en = {
  drawnBy: (name: string) => `Drawn by plugin ${name}`,
  drawnByBefore: "drawn by plugin ",
  drawnByAfter: "",
  usual: "Show the usual content",
  drawn: "Show what the plugin draws",
  broke: (name: string) => `Plugin ${name} failed here; this is the usual content.`,
  brokeBare: (name: string) => `Plugin ${name} failed here.`,
  notDrawn: "What plugins show here could not be drawn.",
  leaveTitle: "Open this address?",
  leaveText: "A plugin asks to open it in a new tab. What stands in the address goes to whoever is there.",
  leaveNo: "Stay here",
  leaveYes: "Open it",
};

const de: typeof en = {
  drawnBy: (name) => `Gezeichnet vom Plugin ${name}`,
  drawnByBefore: "gezeichnet vom Plugin ",
  drawnByAfter: "",
  usual: "Üblichen Inhalt zeigen",
  drawn: "Zeigen, was das Plugin zeichnet",
  broke: (name) => `Plugin ${name} ist hier gescheitert; dies ist der übliche Inhalt.`,
  brokeBare: (name) => `Plugin ${name} ist hier gescheitert.`,
  notDrawn: "Was Plugins hier zeigen, ließ sich nicht zeichnen.",
  leaveTitle: "Diese Adresse öffnen?",
  leaveText: "Ein Plugin möchte sie in einem neuen Tab öffnen. Was in der Adresse steht, erfährt, wer dort ist.",
  leaveNo: "Hier bleiben",
  leaveYes: "Öffnen",
};

const zh: typeof en = {
  drawnBy: (name) => `由插件 ${name} 绘制`,
  drawnByBefore: "由插件 ",
  drawnByAfter: " 绘制",
  usual: "显示平常的内容",
  drawn: "显示插件绘制的内容",
  broke: (name) => `插件 ${name} 在此出错；现在显示的是平常的内容。`,
  brokeBare: (name) => `插件 ${name} 在此出错。`,
  notDrawn: "插件在此显示的内容无法绘制。",
  leaveTitle: "打开这个地址？",
  leaveText: "一个插件请求在新标签页中打开它。地址中的内容会被对方得知。",
  leaveNo: "留在这里",
  leaveYes: "打开",
};

const languages: Record<string, typeof en> = { en, de, zh };

export const useHalfWords = (): typeof en => languages[useWords().code] ?? en;
