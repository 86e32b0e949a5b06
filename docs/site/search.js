// Search the built site as its pages do: the theme's search worker runs here in the place of a browser.
//
//     node docs/site/search.js build/site "first query" "second query"
//
// prints one JSON list for each query: the locations of the pages found, best first.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [site, ...queries] = process.argv.slice(2);
const workers = path.join(site, "assets", "javascripts", "workers");
const worker = fs.readdirSync(workers).find((name) => /^search\..*\.js$/.test(name));
const answers = [];
const context = { console, postMessage: (message) => answers.push(message), addEventListener: listen };
let receive;

function listen(kind, listener) {
  if (kind === "message") receive = listener;
}

function load(file) {
  vm.runInContext(fs.readFileSync(file, "utf8"), context, { filename: file });
}

context.self = context;
context.importScripts = (...files) => files.forEach((file) => load(path.join(workers, file)));
vm.createContext(context);
load(path.join(workers, worker));

async function ask(message) {
  const expected = answers.length + 1;
  receive({ data: message });
  while (answers.length < expected) await new Promise((resolve) => setTimeout(resolve, 5));
  return answers[expected - 1].data;
}

async function main() {
  const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json"), "utf8"));
  await ask({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: true } } });
  for (const query of queries) {
    const found = await ask({ type: 2, data: query });
    console.log(JSON.stringify(found.items.map((pages) => pages[0].location.split("#")[0])));
  }
}

main();
