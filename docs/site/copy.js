// The copy button of a session gives the program: no prompts, no results.
document.addEventListener("click", event => {
  const button = event.target.closest(".md-clipboard, .md-code__button");
  const code = button && button.closest(".highlight") && button.closest(".highlight").querySelector("code");
  if (!code || !code.querySelector(".gp")) return;
  event.stopImmediatePropagation();
  event.preventDefault();
  const lines = code.textContent.split("\n").filter(line => /^(>>>|\.\.\.)( |$)/.test(line));
  navigator.clipboard.writeText(lines.map(line => line.slice(4)).join("\n") + "\n");
}, true);
