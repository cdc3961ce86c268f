/** A pin store in a temporary file. @module */

import { openPinStore, type PinStore } from "@sig/consumer/pins";
import { tempFolder } from "./process.ts";

/** An open pin store. */
export interface PinFile extends AsyncDisposable {
  readonly pins: PinStore;
  /** Path of the file. */
  readonly path: string;
}

/** Creates and opens a pin store in a temporary folder. */
export async function openPinFile(): Promise<PinFile> {
  const folder = await tempFolder();
  const path = `${folder.path}/pins.db`;
  const pins = await openPinStore(path);
  return {
    pins,
    path,
    async [Symbol.asyncDispose]() {
      await pins.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
