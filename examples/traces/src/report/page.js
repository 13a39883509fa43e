"use strict";
// Search: items without the words are hidden, and matching folded items are opened.
const box = document.querySelector("#search");
const found = document.querySelector("#found");
let timer = 0;
let opened = [];

function search() {
  const words = box.value.trim().toLowerCase();
  opened.forEach((details) => (details.open = false));
  opened = [];
  let count = 0;
  for (const section of document.querySelectorAll("main section")) {
    const titled = words && section.querySelector("h2").textContent.toLowerCase().includes(words);
    let has = !words || titled;
    if (titled) count += 1;
    for (const item of section.querySelectorAll(".item, .spans > details")) {
      const hit = !words || item.textContent.toLowerCase().includes(words);
      item.hidden = !hit && !titled;
      has ||= hit;
      if (!words || !hit) continue;
      count += 1;
      const folds = item.tagName === "DETAILS" && !item.querySelector("summary").textContent.toLowerCase().includes(words);
      if (folds && !item.open) {
        item.open = true;
        opened.push(item);
      }
    }
    section.hidden = !has;
  }
  found.textContent = words ? `${count} found` : "";
}

box.hidden = false;
box.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(search, 150);
});

// A live page replaces its parts when the server has newer ones.
const seconds = Number(document.body.dataset.live);
let tag = document.body.dataset.tag;

async function refresh() {
  try {
    const response = await fetch(location.href, { headers: { "If-None-Match": tag } });
    if (response.status === 200) {
      tag = response.headers.get("ETag");
      replace(new DOMParser().parseFromString(await response.text(), "text/html"));
    }
    document.body.classList.toggle("offline", !response.ok && response.status !== 304);
  } catch {
    document.body.classList.add("offline");
  }
  setTimeout(refresh, seconds * 1000);
}

function replace(next) {
  const follows = innerHeight + scrollY >= document.body.scrollHeight - 40;
  const folded = [...document.querySelectorAll("main details")].map((details) => details.open);
  for (const part of ["header", "#parts", "main", "footer"]) {
    document.querySelector(part).replaceWith(next.querySelector(part));
  }
  document.querySelectorAll("main details").forEach((details, at) => {
    if (at < folded.length) details.open = folded[at];
  });
  opened = [];
  if (box.value) search();
  if (follows) scrollTo(0, document.body.scrollHeight);
}

if (seconds > 0) setTimeout(refresh, seconds * 1000);
