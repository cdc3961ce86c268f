/** The fenced blocks of a Markdown document. @module */

/** A fenced block. */
export interface Block {
  /** Line of its fence, from 1. */
  readonly line: number;
  /** The first word after the fence: `sh`, `ts`, `text`, … */
  readonly language: string;
  /** The other words after the fence. */
  readonly words: readonly string[];
  /** The text between the fences. */
  readonly text: string;
  /** The HTML comment directly before the fence. */
  readonly comment: string | undefined;
  /** Whether only a blank line separates it from the previous block. */
  readonly follows: boolean;
}

const FENCE = /^( *)(`{3,})(.*)$/;

/** Parses all blocks, in order. */
export function readBlocks(markdown: string): readonly Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let last = -1;
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence, info = ""] = FENCE.exec(lines[at]!) ?? [];
    if (fence === undefined) continue;
    const start = at;
    const body: string[] = [];
    while (++at < lines.length && lines[at]!.trim() !== fence) {
      body.push(lines[at]!.slice(indent.length));
    }
    const [language = "", ...words] = info.trim().split(/\s+/);
    const before = lines.slice(last + 1, start).filter((line) =>
      line.trim() !== ""
    );
    blocks.push({
      line: start + 1,
      language,
      words,
      text: body.join("\n"),
      comment: commentIn(before),
      follows: last >= 0 && before.length === 0,
    });
    last = at;
  }
  return blocks;
}

/** Returns the comment at the end of the lines, which may span several. */
function commentIn(lines: readonly string[]): string | undefined {
  if (!lines.at(-1)?.trimEnd().endsWith("-->")) return undefined;
  const text = lines.map((line) => line.trim()).join(" ");
  return text.slice(text.lastIndexOf("<!--") + 4, -3).trim();
}

/**
 * Returns the reason why a block is not run, from `<!-- not run: reason -->`.
 */
export function reasonNotRun(block: Block): string | undefined {
  return /^not run: (.+)$/.exec(block.comment ?? "")?.[1];
}

/**
 * Returns the expected exit code of a block's last command (default: 0), from
 * `<!-- exits N -->`.
 */
export function exitCodeOf(block: Block): number {
  return Number(/^exits (\d+)$/.exec(block.comment ?? "")?.[1] ?? 0);
}

/**
 * Whether a command before the last one may fail, as a deny does:
 * `<!-- says no on the way -->`. The output is compared, exit codes are
 * ignored.
 */
export function hasNo(block: Block): boolean {
  return block.comment === "says no on the way";
}
