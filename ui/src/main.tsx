import { createRoot } from "react-dom/client";
import { App } from "./shell/App";
import { applyTheme, loadPreferences } from "./shell/preferences";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/page.css";
import "./half/half.css";
import "./theme/plugin.css";
import { takeSecret } from "./wire/link";

applyTheme(loadPreferences().theme);
createRoot(document.getElementById("root")!).render(<App secret={takeSecret()} />);
