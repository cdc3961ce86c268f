/** Stores for tests, and entries of other programs. @module */

import { tempFolder } from "../../tests/kit/process.ts";
import type { RecordStore } from "../store/record_store.ts";
import type { OpenedStore } from "../store/testing.ts";

/** Opens two connections to a store, in a folder that is removed afterwards. */
export async function openTwice(
  open: (folder: string) => Promise<RecordStore>,
  onClosed: () => Promise<void> = () => Promise.resolve(),
): Promise<OpenedStore> {
  const folder = await tempFolder();
  const [store, other] = [await open(folder.path), await open(folder.path)];
  return {
    ...{ store, other },
    async close() {
      await store.close();
      await other.close();
      await folder[Symbol.asyncDispose]();
      await onClosed();
    },
  };
}

/** Writes an entry into a file of Deno KV. */
export async function writeKv(
  path: string,
  key: Deno.KvKey,
  value: unknown,
): Promise<void> {
  using kv = await Deno.openKv(path);
  await kv.set(key, value);
}
