/** All about one row. @module */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A dialog that is open as long as it is drawn; Escape closes it. */
export function DetailDialog({ title, onClose, children }: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="detail"
      aria-labelledby="detail-title"
      onClose={onClose}
    >
      <div class="row spread">
        <h2 id="detail-title">{title}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {children}
    </dialog>
  );
}
