/**
 * An invitation for another key of the same person, to be opened on another
 * device.
 *
 * @module
 */

import { isSigError } from "@sig/core";
import { invitationLink, parseInvitation } from "@sig/jose";
import { encodeQR } from "qr";
import { useMemo, useState } from "preact/hooks";
import { usePage } from "../api.ts";
import { Copyable, CopyButton } from "../copy.tsx";
import { Fold, TextField } from "../elements.tsx";
import { commandLine, hostOf, shortened, visibleText } from "../text.ts";
import type { Keys } from "./use_keys.ts";

/** The steps that give another device its own key; the operator decides. */
export function AddDevice({ did, isOpen }: {
  /** The key by which the organization knows the person. */
  readonly did: string;
  readonly isOpen: boolean;
}) {
  const { keys, config: { issuer } } = usePage();
  const [link, setLink] = useState("");
  const { text, fault } = useMemo(() => readLink(link, keys), [link, keys]);
  const command = commandLine(
    ["sig", "invite", "--dir", "DIR", "--also", did, "--page", pageUrl()],
  ) ?? "";
  const organization = issuer === null ? "your organization" : hostOf(issuer);
  const message =
    `Hello, I want to use another device at ${location.host}. Please send me an invitation for a further key. You know me by this key: ${did}.`;
  return (
    <Fold id="add-device" title="Add a device" class="card" isOpen={isOpen}>
      <div class="stack">
        <p>
          Each device has a key of its own. If {organization}{" "}
          adds the new one to you, applications know both keys as one person. Do
          this on a device whose key {organization} knows.
        </p>
        <h2>1. Ask for a link</h2>
        <p>Send this to {organization}. It contains no secret.</p>
        <Copyable
          visible={message.replace(did, shortened(did))}
          copied={message}
          what="the message"
        />
        <Fold title="For the operator">
          <Copyable
            visible={command.replace(did, shortened(did))}
            copied={command}
            what="the command"
          />
        </Fold>
        <h2>2. Open the link on the new device</h2>
        <p>
          Open it there yourself, or paste it here to get a QR code for its
          camera.
        </p>
        <TextField
          id="device-link"
          label="The link that you received"
          value={link}
          onValue={setLink}
        />
        <p class="error" role="alert">{visibleText(fault)}</p>
        {text !== undefined && <DeviceLink text={text} />}
        <h2>3. Send the answer back</h2>
        <p>
          Approve on the new device. It shows an answer: send it to{" "}
          {organization}. As soon as it is accepted, both devices are you.
        </p>
      </div>
    </Fold>
  );
}

/** A link as a QR code for the device that should open it. */
export function DeviceLink({ text }: { text: string }) {
  const link = invitationLink(pageUrl(), text);
  const code = useMemo(() => drawCode(link), [link]);
  return (
    <div class="stack">
      {code === undefined
        ? <p>The link is too long for a QR code. Copy it to the new device.</p>
        : (
          <svg
            class="qr"
            viewBox={`0 0 ${code.size} ${code.size}`}
            role="img"
            aria-label="QR code of the link, for the camera of the new device"
          >
            <path d={code.path} />
          </svg>
        )}
      <CopyButton text={() => link} what="the link" look="primary" />
    </div>
  );
}

function pageUrl(): string {
  return location.origin + location.pathname;
}

/** Returns the invitation of a link if it is for another key of this person. */
function readLink(
  link: string,
  { all }: Keys,
): { readonly text?: string; readonly fault: string } {
  if (link.trim() === "") return { fault: "" };
  try {
    const { text, claims: { same_person_as: person } } = parseInvitation(link);
    return all.some(({ did }) => did === person)
      ? { text, fault: "" }
      : { fault: "This link does not add a device to a key of this browser." };
  } catch (error) {
    if (isSigError(error)) return { fault: error.message };
    throw error;
  }
}

/**
 * Returns the dark modules as an SVG path; undefined if the text is too long
 * for a QR code.
 */
function drawCode(text: string) {
  try {
    const rows = encodeQR(text, "raw", { ecc: "low", border: 4 });
    const path = rows.flatMap((row, y) =>
      row.map((isDark, x) => isDark ? `M${x} ${y}h1v1h-1z` : "")
    ).join("");
    return { size: rows.length, path };
  } catch {
    return undefined;
  }
}
