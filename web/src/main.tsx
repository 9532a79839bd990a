import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";

import { createRoot } from "react-dom/client";

import { App } from "./app.tsx";
import { applyTheme } from "./shell/theme.ts";

applyTheme();
const place = document.getElementById("page");
if (place) createRoot(place).render(<App />);
