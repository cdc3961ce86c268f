/** `deno task install` with the bundle of this run (`programs`). @module */

import { install } from "../../tools/install.ts";

const bundle = Deno.env.get("DOCS_PROGRAMS")!;
console.log(await install(Deno.args, { bundle: () => bundle }));
