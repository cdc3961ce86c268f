/// <reference lib="dom" />
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import decodeQR from "qr/decode.js";
import { eventually, shows } from "./testdata/browser.ts";
import { inspect } from "./testdata/faults.ts";
import { fragmentOf, invitingTest } from "./testdata/inviting_issuer.ts";
import { copied, createKey, goTo, outcome, tabTo } from "./testdata/person.ts";

/** Decodes the QR code on the page. */
async function scan(page: Page): Promise<string> {
  const [size, text] = await page.locator(".qr").evaluate(async (svg) => {
    const size = (svg as SVGSVGElement).viewBox.baseVal.width * 2;
    const image = new Image();
    const copy = svg.cloneNode(true) as SVGElement;
    copy.setAttribute("width", `${size}`);
    copy.setAttribute("height", `${size}`);
    const text = new XMLSerializer().serializeToString(copy);
    image.src = `data:image/svg+xml;base64,${btoa(text)}`;
    await image.decode();
    const context = new OffscreenCanvas(size, size).getContext("2d")!;
    context.fillStyle = getComputedStyle(svg).backgroundColor;
    context.fillRect(0, 0, size, size);
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, size, size);
    // As text, since an array of numbers takes seconds to transfer.
    return [size, new TextDecoder("latin1").decode(data)] as const;
  });
  const data = Uint8Array.from(text, (each) => each.charCodeAt(0));
  return decodeQR({ width: size, height: size, data });
}

invitingTest(
  "a device is added: requested on one, scanned and answered on the other, enrolled by the operator",
  {},
  async ({ page, issuer, open }) => {
    const did = await createKey(page);
    await issuer.sig(
      ...["upsert", "--subject", did, "--label", "Olga Berg"] as const,
      ...["--type", "employee", "--role", "deploy"],
    );
    // With the keyboard only.
    await page.locator("h1").focus();
    await tabTo(page, "Add a device");
    await page.keyboard.press("Enter");
    await tabTo(page, "Copy");
    await page.keyboard.press("Enter");
    // A message for people, and the command for the operator.
    const message = await copied(page);
    assertMatch(message, /^Hello, I want to use another device at .*\.$/s);
    assertStringIncludes(message, did);
    await tabTo(page, "For the operator", 1);
    await page.keyboard.press("Enter");
    await tabTo(page, "Copy", 1);
    await page.keyboard.press("Enter");
    await eventually(
      () => copied(page),
      `sig invite --dir DIR --also ${did} --page ${issuer.origin}/`,
    );
    const asked = await copied(page);
    // The operator runs the command with their folder.
    const [, , , , ...words] = asked.split(" ");
    const link = await issuer.sig("invite", ...words);
    await page.keyboard.press("Tab");
    await eventually(
      () => page.evaluate(() => document.activeElement?.id),
      "device-link",
    );
    for (
      const [text, says] of [
        ["hello", "Cannot use invitation"],
        [await issuer.invite("--type", "other"), "does not add a device"],
      ] as const
    ) {
      await page.fill("#device-link", text);
      await page.locator("#add-device [role=alert]", { hasText: says })
        .waitFor();
      assertEquals(await page.locator(".qr").count(), 0);
    }
    await page.fill("#device-link", link);
    await page.locator(".qr").waitFor();
    assertEquals(await scan(page), link);

    await using phone = await open({
      hash: fragmentOf(link),
      device: { viewport: { width: 390, height: 844 } },
    });
    await shows(
      phone.page.locator("#offer"),
      ...["Another key of", "Olga Berg", "answer only if that key is yours"],
    );
    await phone.page.click("#approve:enabled");
    await eventually(() => outcome(phone.page), "Now send your answer back");
    await phone.page.getByRole("button", { name: "Copy the answer" }).click();
    const { subject } = await issuer.enrol(await copied(phone.page));
    const who = JSON.parse(
      await issuer.sig("who", "$D/issuer", "--format", "json"),
    );
    assertEquals(
      who.map((each: { subject: string; roles: string[] }) => [
        each.subject,
        each.roles.join(),
      ]),
      [did, subject].sort().map((each) => [each, "deploy"]),
    );
  },
);

invitingTest(
  "a device with the key shows the link for the other one, in every theme and width",
  {},
  async ({ page, issuer }) => {
    const did = await createKey(page);
    await issuer.sig("upsert", "--subject", did, "--type", "employee");
    const link = await issuer.invite("--also", did);
    await goTo(page, fragmentOf(link));
    await shows(page.locator("#offer"), "Open this on your new device.");
    await inspect(page, "add-device-link");
    await page.emulateMedia({ colorScheme: "dark" });
    assertEquals(await scan(page), link);
    // Only a new key would be another key of this person.
    await page.getByText("Answer in this browser, with a new key").click();
    await page.getByText("Approving creates your key").waitFor();
    assertEquals(await page.locator("#offer select").count(), 0);
    await goTo(page, "#/keys");
    await page.locator("#add-device > summary").click();
    await page.fill("#device-link", link);
    await page.locator(".qr").waitFor();
    await inspect(page, "add-device");
  },
);
