// Reads a growing feed through a shared mirror: `ORIGIN FOLDER READS`.
import { PATHS } from "../../tests/kit/test_issuer.ts";
import { Mirror } from "../memory/mirror.ts";
import { sha256Hex } from "../memory/pin.ts";
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

/** What this process remembers; the others have read more meanwhile. */
let feed: { bytes: number; sha256: string } | undefined;
let used = 0;

async function read(): Promise<void> {
  using mirror = await Mirror.open(location, { folder, feed });
  const options = { name: "feed", maxBytes: 10_000_000 } as const;
  const document = await mirror.open(origin + PATHS.feed, options);
  const bytes = await readAll(document, options.maxBytes);
  const text = new TextDecoder().decode(bytes);
  if (!isFeed(text)) throw new Error("the server's feed differs");
  await mirror.keep(new Map());
  if (mirror.usedCopy) used++;
  feed = { bytes: bytes.length, sha256: await sha256Hex(text) };
}

for (let count = 0; count < Number(reads); count++) await read();
console.log(`${reads} reads, ${used > 0 ? "some" : "none"} from the copy`);
