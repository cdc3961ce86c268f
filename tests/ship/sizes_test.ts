import { assert } from "@std/assert";
import { bundle } from "../../tools/bundle.ts";

/** The maximum size of a bundle that uses one export, minified, in bytes. */
const SIZES = { is_sig_error: 2_000, check: 20_000 };

for (const [name, maxBytes] of Object.entries(SIZES)) {
  Deno.test(`a bundle with ${name} alone has at most ${maxBytes} bytes`, async () => {
    const entry = `tests/ship/testdata/sizes/${name}.ts`;
    const { length } = await bundle(entry, "--minify");
    assert(length <= maxBytes, `${length} bytes`);
  });
}
