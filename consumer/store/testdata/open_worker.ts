/** Opens and closes the store given as argument, and prints the result. */

import { isSigError } from "@sig/core";
import { openStore } from "../open_store.ts";

try {
  const store = await openStore(Deno.args[0] ?? "");
  await store.close();
  console.log("opened");
} catch (error) {
  if (!isSigError(error)) throw error;
  console.log(`${error.code}: ${error.message} ${error.context.hint}`);
}
