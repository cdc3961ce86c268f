/** The only test of a copy that is published in tests. @module */

import { MARK } from "./publish_packages.ts";

Deno.test("leaves a file in the copy that is tested", () => {
  Deno.writeTextFileSync(MARK, "");
});
