// Verifies a growing feed through a shared copy: `DID FOLDER READS`.
import { createConsumer } from "../create_consumer.ts";
import { createMemoryStore } from "../store/memory_store.ts";

const [did, mirrorFolder, reads] = Deno.args as [string, string, string];
/** What this process remembers; the others have read more meanwhile. */
const pins = createMemoryStore();
for (let count = 0; count < Number(reads); count++) {
  const options = { issuers: [did], allowPrivate: true, pins, mirrorFolder };
  await createConsumer(options).verify(did);
}
console.log(`${reads} reads`);
