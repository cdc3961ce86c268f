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
    assertEquals(
      findExposure(reachability),
      undefined,
      JSON.stringify(reachability),
    );
  }
});

Deno.test("each thing that makes a server public is seen, behind loopback too", () => {
  const address = parseAddress("127.0.0.1:0");
  const rows: readonly (readonly [Reachability, string, string])[] = [
    [{ address: parseAddress("0.0.0.0:1") }, "--addr", "0.0.0.0"],
    ...[
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
    ].map((value) =>
      [
        { address, audiences: ["http://localhost", value] },
        "--audience",
        value,
      ] as const
    ),
    ...["https://api.acme.example", "nonsense", ""].map((value) =>
      [{ address, publicUrl: value }, "--public-url", value] as const
    ),
    ...["10.0.0.0/8", "127.0.0.1/32"].map((value) =>
      [{ address, trustProxy: [value] }, "--trust-proxy", value] as const
    ),
    ...[
      "acme.example",
      "acme.example:8787",
      "192.0.2.1",
      "[2001:db8::1]",
      "x y",
    ]
      .map((value) =>
        [{ address, hosts: ["localhost", value] }, "--host", value] as const
      ),
  ];
  for (const [reachability, flag, value] of rows) {
    assertEquals(findExposure(reachability), { flag, value });
  }
});
