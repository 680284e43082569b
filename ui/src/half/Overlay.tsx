import { Seat, useViews } from "./Seat";

/**
 * The seat over the conversation. It lies in the conversation's own cell of the page and is cut at its edge, so that it has no
 * point in common with a card, whatever it draws and however large it becomes.
 */
export const Overlay = () => {
  const views = useViews();
  if (!views.some((one) => one.slot === "shell.overlay")) return null;
  return (
    <div className="half-over">
      <div className="half-overlay">
        <Seat name="shell.overlay" />
      </div>
    </div>
  );
};
