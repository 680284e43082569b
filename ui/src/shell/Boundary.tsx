import { Component, type ReactNode } from "react";
import { oneLine } from "../text/visible";
import { VisibleText } from "../text/Visible";
import { Icon } from "../theme/icons";
import { useWords } from "../words/words";

interface BoundaryProps {
  /** What could not be drawn, and what that means for the person: one sentence or two. */
  says: string;
  /** What is drawn inside; it is tried again when another one comes. */
  of?: unknown;
  /** What is done beside drawing it again: reading it again, say. */
  onAgain?: () => void;
  /** Where the line needs something around it. */
  around?: (line: ReactNode) => ReactNode;
  children: ReactNode;
}

interface Held {
  error: string | null;
  of: unknown;
}

/** Where the page cannot draw one part of itself, one clear line stands there, and the rest of the page goes on. */
export class Boundary extends Component<BoundaryProps, Held> {
  override state: Held = { error: null, of: this.props.of };

  static getDerivedStateFromError(error: unknown): Partial<Held> {
    return { error: String(error) };
  }
  static getDerivedStateFromProps({ of }: BoundaryProps, state: Held): Partial<Held> | null {
    return of === state.of ? null : { of, error: null };
  }

  private readonly again = (): void => {
    this.props.onAgain?.();
    this.setState({ error: null });
  };

  override render(): ReactNode {
    const { says, around, children } = this.props;
    if (this.state.error === null) return children;
    const line = <Line says={says} why={this.state.error} onAgain={this.again} />;
    return around ? around(line) : line;
  }
}

const Line = ({ says, why, onAgain }: { says: string; why: string; onAgain: () => void }) => {
  const words = useWords();
  return (
    <div className="not-drawn" role="status">
      <Icon name="alert" />
      <p>
        {says}{" "}
        <button type="button" className="link" onClick={onAgain}>
          {words.shell.drawAgain}
        </button>
      </p>
      <p className="sub">
        <VisibleText text={oneLine(why, 300)} />
      </p>
    </div>
  );
};
