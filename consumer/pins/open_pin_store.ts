/** From the text of `--pins` to a store (INTERFACES §2c). @module */

import type { PinStore } from "./pin_store.ts";
import { openSqlitePinStore } from "./sqlite_pin_store.ts";

/**
 * Opens the memory that a text names: the path of a file.
 *
 * @throws {SigError} `store_unavailable`
 */
export async function openPinStore(text: string): Promise<PinStore> {
  return await openSqlitePinStore(text);
}
