import { assertEquals } from "@std/assert";
import { parseAddress } from "../flags/values.ts";
import { findExposure, type Reachability } from "./server_flags.ts";

Deno.test("settings that name only this machine do not expose a server", () => {
  const local: readonly Reachability[] = [
    {},
    { address: parseAddress("[::1]:1") },
    {
      audiences: [
        "http://localhost:8788",
        "https://127.0.0.1:8443",
        "http://[::1]:1",
        "did:web:localhost%3A8788",
        "did:web:127.0.0.1%3a1:alice",
      ],
    },
    { publicUrl: "http://127.0.0.1:8787" },
    { hosts: ["localhost", "127.0.0.2:80", "[::1]", "[0:0:0:0:0:0:0:1]:1"] },
    { trustProxy: [], hosts: undefined, publicUrl: undefined },
  ];
  for (const reachability of local) {
    const text = JSON.stringify(reachability);
    assertEquals(findExposure(reachability), undefined, text);
  }
});

/** Settings with a value, in addition to those of a local server. */
const MAKE: { readonly [flag: string]: (value: string) => Reachability } = {
  "--audience": (value) => ({ audiences: ["http://localhost", value] }),
  "--public-url": (value) => ({ publicUrl: value }),
  "--trust-proxy": (value) => ({ trustProxy: [value] }),
  "--host": (value) => ({ hosts: ["localhost", value] }),
};
const PUBLIC: { readonly [flag: string]: readonly string[] } = {
  "--audience": [
    "https://login.acme.example",
    "http://localhost.acme.example",
    "http://127.0.0.1.acme.example",
    "https://localhost@acme.example",
    "http://10.0.0.1",
    "http://[::ffff:127.0.0.1]",
    "did:web:acme.example",
    "did:web:localhost.acme.example",
    "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    "did:web:",
    "",
  ],
  "--public-url": ["https://api.acme.example", "nonsense", ""],
  "--trust-proxy": ["10.0.0.0/8", "127.0.0.1/32"],
  "--host": [
    ...["acme.example", "acme.example:8787", "192.0.2.1"],
    ...["[2001:db8::1]", "x y"],
  ],
};

Deno.test("each public setting exposes a server, even on a loopback address", () => {
  const local = parseAddress("127.0.0.1:0");
  for (const [flag, values] of Object.entries(PUBLIC)) {
    for (const value of values) {
      const found = findExposure({ address: local, ...MAKE[flag]!(value) });
      assertEquals(found, { flag, value });
    }
  }
  const everywhere = { address: parseAddress("0.0.0.0:1") };
  const exposure = { flag: "--addr", value: "0.0.0.0" };
  assertEquals(findExposure(everywhere), exposure);
});
