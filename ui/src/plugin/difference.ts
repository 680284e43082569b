/** One line of a difference, with its number in the text that it is from: the old one where it goes, the new one otherwise. */
export interface Step {
  sign: " " | "-" | "+";
  line: string;
  number: number;
}

/** Lines that changed, with a few that did not around them. */
export interface Hunk {
  from: number;
  to: number;
  steps: Step[];
}

export interface Difference {
  hunks: Hunk[];
  added: number;
  removed: number;
}

const CONTEXT = 3;
/** Above this many edits the middle is told as gone and come anew: still true, only longer. */
const MOST_EDITS = 1500;

const rowsOf = (text: string | null): string[] => (text === null || text === "" ? [] : text.split("\n"));

/** The difference of two texts by lines, as few edits as it takes; nothing that changed is left out. */
export const differenceOf = (before: string | null, after: string | null): Difference => {
  const steps = stepsOf(rowsOf(before), rowsOf(after));
  return {
    hunks: hunksOf(steps),
    added: steps.filter((step) => step.sign === "+").length,
    removed: steps.filter((step) => step.sign === "-").length,
  };
};

const stepsOf = (old: string[], now: string[]): Step[] => {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const same = (from: number, to: number): Step[] => now.slice(from, to).map((line, index) => ({ sign: " ", line, number: from + index + 1 }));
  const middle = edits(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [...same(0, start), ...middle.map((step) => ({ ...step, number: step.number + start })), ...same(now.length - end, now.length)];
};

/**
 * The shortest way from one list of lines to another, by the greedy algorithm of E. Myers,
 * "An O(ND) Difference Algorithm and Its Variations" (1986): furthest reaching paths on each diagonal.
 */
const edits = (old: string[], now: string[]): Step[] => {
  const reach = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let count = 0; count <= Math.min(old.length + now.length, MOST_EDITS); count += 1) {
    trace.push(new Map(reach));
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      const down = diagonal === -count || (diagonal !== count && (reach.get(diagonal - 1) ?? 0) < (reach.get(diagonal + 1) ?? 0));
      let x = down ? (reach.get(diagonal + 1) ?? 0) : (reach.get(diagonal - 1) ?? 0) + 1;
      let y = x - diagonal;
      while (x < old.length && y < now.length && old[x] === now[y]) {
        x += 1;
        y += 1;
      }
      reach.set(diagonal, x);
      if (x >= old.length && y >= now.length) return walk(trace, old, now);
    }
  }
  return [...old.map((line, index): Step => ({ sign: "-", line, number: index + 1 })), ...now.map((line, index): Step => ({ sign: "+", line, number: index + 1 }))];
};

const walk = (trace: Map<number, number>[], old: string[], now: string[]): Step[] => {
  const steps: Step[] = [];
  let x = old.length;
  let y = now.length;
  for (let count = trace.length - 1; count >= 0; count -= 1) {
    const reach = trace[count]!;
    const diagonal = x - y;
    const down = diagonal === -count || (diagonal !== count && (reach.get(diagonal - 1) ?? 0) < (reach.get(diagonal + 1) ?? 0));
    const before = down ? diagonal + 1 : diagonal - 1;
    const startX = count === 0 ? 0 : (reach.get(before) ?? 0);
    const startY = count === 0 ? 0 : startX - before;
    while (x > startX && y > startY && (count === 0 || x > startX + (down ? 0 : 1) || y > startY + (down ? 1 : 0))) {
      x -= 1;
      y -= 1;
      steps.push({ sign: " ", line: now[y]!, number: y + 1 });
    }
    if (count === 0) break;
    if (down) steps.push({ sign: "+", line: now[startY]!, number: startY + 1 });
    else steps.push({ sign: "-", line: old[startX]!, number: startX + 1 });
    x = startX;
    y = startY;
  }
  return grouped(steps.reverse());
};

/** Within one run of changes first what goes, then what comes. */
const grouped = (steps: Step[]): Step[] => {
  const sorted: Step[] = [];
  let gone: Step[] = [];
  let come: Step[] = [];
  for (const step of [...steps, null]) {
    if (step?.sign === "-") gone.push(step);
    else if (step?.sign === "+") come.push(step);
    else {
      sorted.push(...gone, ...come);
      gone = [];
      come = [];
      if (step) sorted.push(step);
    }
  }
  return sorted;
};

const hunksOf = (steps: Step[]): Hunk[] => {
  const hunks: Hunk[] = [];
  let open: Step[] = [];
  let quiet = 0;
  const close = (): void => {
    const kept = open.slice(0, open.length - Math.max(0, quiet - CONTEXT));
    if (kept.some((step) => step.sign !== " ")) hunks.push({ from: kept[0]!.number, to: kept.at(-1)!.number, steps: kept });
    open = [];
    quiet = 0;
  };
  steps.forEach((step, index) => {
    if (step.sign !== " ") {
      if (!open.length) open = steps.slice(Math.max(0, index - CONTEXT), index);
      open.push(step);
      quiet = 0;
    } else if (open.length) {
      open.push(step);
      quiet += 1;
      if (quiet > CONTEXT * 2) close();
    }
  });
  if (open.length) close();
  return hunks;
};
