import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { useTopLayer } from "./useTopLayer";

interface SheetProps {
  open: boolean;
  onClose: () => void;
  title: string;
  alert?: boolean;
  wide?: boolean;
  children: ReactNode;
}

/** A dialog that the person has opened, over everything else: it holds the focus, Escape leaves it, and it gives the focus back. */
export const Sheet = ({ open, onClose, title, alert = false, wide = false, children }: SheetProps) => (
  <ModalOverlay className="veil" ref={useTopLayer()} isOpen={open} onOpenChange={(now) => !now && onClose()} isDismissable={!alert}>
    <Modal className={wide ? "modal wide" : "modal"}>
      <Dialog className="dialog" role={alert ? "alertdialog" : "dialog"}>
        <Heading slot="title" className="ask-title">
          {title}
        </Heading>
        {children}
      </Dialog>
    </Modal>
  </ModalOverlay>
);
