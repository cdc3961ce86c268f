import { assertEquals } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { isPublicAddress, isRefusedHostName } from "./public_address.ts";

// promise: A private address is recognised in every spelling.

vectorTest("public and refused addresses", "own/addresses.json", () => {
  const rows = readJsonVectors<{ ip: string; expect: "allow" | "block" }[]>(
    "own/addresses.json",
  );
  assertEquals(rows.length, 32);
  for (const { ip, expect } of rows) {
    assertEquals(isPublicAddress(ip), expect === "allow", ip);
  }
});

Deno.test("each refused IPv4 block has the bounds of docs/protocol.md §10", () => {
  const blocks = [
    [null, "0.0.0.0", "0.255.255.255", "1.0.0.0"],
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
    ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
    ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
    ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
    ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
    ["223.255.255.255", "224.0.0.0", "255.255.255.255", null],
  ];
  for (const [before, first, last, after] of blocks) {
    if (before) assertEquals(isPublicAddress(before), true, before);
    assertEquals(isPublicAddress(first!), false, first!);
    assertEquals(isPublicAddress(last!), false, last!);
    if (after) assertEquals(isPublicAddress(after), true, after);
  }
});

Deno.test("each refused IPv6 block has the bounds of docs/protocol.md §10", () => {
  const rows: [string, boolean][] = [
    ["1fff:ffff::1", false],
    ["2000::", true],
    ["2001::", false],
    ["2001:1ff:ffff::", false],
    ["2001:200::", true],
    ["2001:db7:ffff::", true],
    ["2001:db8:ffff:ffff::", false],
    ["2001:db9::", true],
    ["2001:ffff::", true],
    ["2002::", false],
    ["2002:ffff:ffff::", false],
    ["2003::", true],
    ["3ffe:ffff::", true],
    ["3fff::", false],
    ["3fff:fff:ffff::", false],
    ["3fff:1000::", true],
    ["3fff:ffff::", true],
    ["4000::", false],
    ["fc00::", false],
    ["fe80::1", false],
  ];
  for (const [ip, expected] of rows) {
    assertEquals(isPublicAddress(ip), expected, ip);
  }
});

Deno.test("refuses every IPv4 address inside IPv6", () => {
  for (
    const ip of [
      ...["::", "::1", "::127.0.0.1", "::93.184.216.34", "::ffff:127.0.0.1"],
      ...["::FFFF:7F00:1", "::ffff:93.184.216.34", "0:0:0:0:0:ffff:5db8:d822"],
      ...["64:ff9b::93.184.216.34", "2002:5db8:d822::", "2001:0:5db8:d822::"],
    ]
  ) assertEquals(isPublicAddress(ip), false, ip);
});

Deno.test("an address that is not exactly an IP literal is not public", () => {
  for (
    const text of [
      ...["", " 1.1.1.1", "1.1.1.1 ", "1.1.1", "1.1.1.1.1", "1.1.1.256"],
      ...["01.1.1.1", "0x1.1.1.1", "1.1.1.-1", "1.1.1.1e0", "16843009"],
      ...[
        "１.1.1.1",
        "1.1.1.1:80",
        "[2606:4700::1111]",
        "2606:4700::1111%eth0",
      ],
      ...["2606:4700::1111/64", "2606:4700::1::1", ":2606:4700::1"],
      ...["2606:4700::1:", "2606:4700:::1", "2606:4700:1:2:3:4:5"],
      ...["2606:4700:1:2:3:4:5:6:7", "2606:4700:1:2:3:4:5:6::"],
      ...["2606:47000::1", "2606:g::1", "2606::1.1.1", "2606:1.1.1.1::"],
      ...["acme.example"],
    ]
  ) assertEquals(isPublicAddress(text), false, text);
  assertEquals(isPublicAddress("2606:4700:0:1:2:3:4:5"), true);
  assertEquals(isPublicAddress("2606:4700::1:1.1.1.1"), true);
});

Deno.test("refuses local names, single labels and a trailing dot", () => {
  for (
    const name of [
      ...["localhost", "LOCALHOST", "localhost.", "a.localhost"],
      ...["printer.local", "Printer.Local", "metadata.google.internal"],
      ...["intranet", "acme.example.", ""],
    ]
  ) assertEquals(isRefusedHostName(name), true, name);
  for (const name of ["acme.example", "local.example", "mylocal.dev"]) {
    assertEquals(isRefusedHostName(name), false, name);
  }
});
