// The copy button of a console block copies its commands, without prompts and without what they print.
//
// The button copies the attribute `data-copy` of what is around it, where there is one.

const PROMPT = "$ ";
const CONTINUED = "> ";

/** Whether a command goes on in the next line: after a backslash, in a quoted text, or in a document. */
function isOpen(command) {
  const documents = [...command.matchAll(/<<-?\s*(['"]?)(\w+)\1/g)].map((found) => found[2]);
  const lines = command.split("\n");
  if (documents.some((end) => !lines.slice(1).some((line) => line.trim() === end))) return true;
  if (documents.length > 0) return false;
  let quote = "";
  for (let at = 0; at < command.length; at += 1) {
    const sign = command[at];
    if (sign === "\\" && quote !== "'") at += 1;
    else if (quote) quote = sign === quote ? "" : quote;
    else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === "#" && (at === 0 || /\s/.test(command[at - 1]))) at = (command + "\n").indexOf("\n", at);
  }
  return quote !== "" || command.endsWith("\\");
}

/** The commands of a console, one below the other. */
function commandsOf(text) {
  const commands = [];
  let open = false;
  for (const line of text.split("\n")) {
    if (open) {
      const rest = line.startsWith(CONTINUED) ? line.slice(CONTINUED.length) : line;
      commands.push(`${commands.pop()}\n${rest}`);
    } else if (line.startsWith(PROMPT)) {
      commands.push(line.slice(PROMPT.length));
    } else {
      continue;
    }
    open = isOpen(commands[commands.length - 1]);
  }
  return commands.join("\n");
}

if (typeof document !== "undefined") {
  for (const block of document.querySelectorAll(".language-console")) {
    const code = block.querySelector("code");
    if (code) block.setAttribute("data-copy", commandsOf(code.textContent));
  }
}
