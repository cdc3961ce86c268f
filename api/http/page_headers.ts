/** The headers of every page of both servers (SECURITY §5). @module */

/** What browsers know by now and no page here needs. */
const UNUSED_FEATURES = [
  ...["accelerometer", "autoplay", "bluetooth", "camera", "display-capture"],
  ...["encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope"],
  ...["hid", "idle-detection", "magnetometer", "microphone", "midi", "payment"],
  ...["picture-in-picture", "screen-wake-lock", "serial", "usb", "web-share"],
  "xr-spatial-tracking",
];

/**
 * Headers of a page beside its content security policy: it tells no other site
 * where its reader came from, shares its process with none, stands in no frame,
 * and can't use devices.
 *
 * @example
 * ```ts
 * import { PAGE_HEADERS } from "./page_headers.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { "referrer-policy": policy } = Object.fromEntries(PAGE_HEADERS);
 * assertEquals(policy, "no-referrer");
 * ```
 */
export const PAGE_HEADERS: readonly (readonly [string, string])[] = Object
  .freeze([
    ["referrer-policy", "no-referrer"],
    ["cross-origin-opener-policy", "same-origin"],
    ["cross-origin-resource-policy", "same-origin"],
    ["cross-origin-embedder-policy", "require-corp"],
    ["x-frame-options", "DENY"],
    ["x-permitted-cross-domain-policies", "none"],
    [
      "permissions-policy",
      UNUSED_FEATURES.map((feature) => `${feature}=()`).join(", "),
    ],
  ]);
