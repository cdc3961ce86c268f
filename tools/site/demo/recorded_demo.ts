/** What `deno task demo` prints, as a document. @module */

/** Where the page is that plays the story. */
export const DEMO_PAGE = "demo.html";

const ROOT = new URL("../../../", import.meta.url);

const INTRODUCTION = `# The demo, recorded

An issuer, its feed on a web server, answers, and a forgery that nobody
believes. This is what \`npx -y deno@2.9.6 task demo\` printed when this page was
made; nothing of it is written by hand. [The demo](${DEMO_PAGE}) plays the story
in your browser; \`sig web --demo\` does, with a login and a key of your own.
`;

/**
 * Plays the demo.
 *
 * @throws {Error} when it fails, with its own words.
 */
export async function recordedDemo(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "tools/demo.ts"],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`The demo failed: ${decoder.decode(stderr)}`);
  return demoToMarkdown(decoder.decode(stdout));
}

/** A line with `# ` says what happens, one with `$ ` is typed, all others are printed. */
export function demoToMarkdown(text: string): string {
  const [story = "", next = ""] = text.split(/^# That was the main job\. /m);
  const steps = story.trim().split(/^# /m).slice(1).map((step) => {
    const [title = "", ...lines] = step.trimEnd().split("\n");
    const typed = lines.filter((line) => line.startsWith("$ "))
      .map((line) => line.slice(2));
    const printed = lines.filter((line) => !line.startsWith("$ "));
    return `## ${title}\n${fence("sh", typed)}${fence("text", printed)}`;
  });
  const commands = next.split("\n").filter((line) =>
    line !== "" && !line.startsWith("#") && !line.startsWith("Next,")
  );
  return `${INTRODUCTION}\n${
    steps.join("\n")
  }\n## Next${`\n\nIn the folder of this project:\n`}${fence("sh", commands)}`;
}

function fence(language: string, lines: readonly string[]): string {
  if (lines.length === 0) return "";
  return `\n\`\`\`${language}\n${lines.join("\n")}\n\`\`\`\n`;
}
