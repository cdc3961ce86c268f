/** A store of Deno KV in a temporary folder. */

import { openStore } from "@sig/consumer/store";
import { tempFolder } from "../../../tests/kit/process.ts";

/** Opens a store, which is closed and removed when its scope ends. */
export async function openKv() {
  const folder = await tempFolder();
  const store = await openStore(`kv:${folder.path}/store.db`);
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
