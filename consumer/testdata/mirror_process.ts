// Reads a growing feed through a shared mirror: `ORIGIN FOLDER READS`.
import { PATHS } from "../../tests/kit/test_issuer.ts";
import { Mirror } from "../memory/mirror.ts";
import { createRemoteReader, readAll } from "../read/reader.ts";

const [origin, folder, reads] = Deno.args as [string, string, string];
const reader = createRemoteReader({ allowPrivate: true });
const location = { reader, metadataRef: origin + PATHS.metadata };

/** Whether the text has the lines of the feed, from the first. */
function isFeed(text: string): boolean {
  return text.split("\n").every((line, i) =>
    line === "" || line === `a${String(i + 1).padStart(98, "0")}`
  ) && text.endsWith("\n");
}

async function read(useCopy: boolean): Promise<boolean> {
  using mirror = await Mirror.open(location, { folder, useCopy });
  const options = { name: "feed", maxBytes: 10_000_000 } as const;
  const document = await mirror.open(origin + PATHS.feed, options);
  const bytes = await readAll(document, options.maxBytes);
  const isValid = isFeed(new TextDecoder().decode(bytes));
  if (isValid) mirror.keep();
  // Only a damaged copy may be the cause.
  else if (!mirror.usedCopy) throw new Error("the server's feed differs");
  return isValid;
}

let count = 0;
let damaged = 0;
for (; count < Number(reads); count++) {
  if (!await read(true)) damaged++;
  if (damaged > 0) await read(false);
}
console.log(`${count} reads, ${damaged} damaged`);
