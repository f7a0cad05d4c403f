// A button that copies the code of a block; of a console session, the commands without their prompts.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight pre")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = block.textContent.replace(/\n$/, "").split("\n");
      const isConsole = block.closest(".highlight-console") !== null;
      const commands = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
      try {
        await navigator.clipboard.writeText((isConsole && commands.length ? commands : lines).join("\n"));
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.parentElement.append(button);
  }
});
