// Filters for the list of rules, made of what its tables hold, so that the page is whole without them; and what the
// theme lacks for people who use a keyboard or a screen reader.
(function () {
  "use strict";

  const COLUMNS = { severity: "Severity", fix: "Fix", default: "Default", "start method": "Start method" };

  function cells(row) {
    return Array.from(row.cells, (cell) => cell.textContent.trim());
  }

  /** The rules of the page: each with its row, its family and the value of each column. */
  function rules(content) {
    return Array.from(content.querySelectorAll("table")).flatMap((table) => {
      const names = cells(table.tHead.rows[0]);
      const heading = headingOf(table);
      if (!heading || !names.includes("start method")) return [];
      const family = heading.textContent.replace("¶", "").split(":")[0].trim();
      return Array.from(table.tBodies[0].rows, (row) => {
        const values = Object.fromEntries(cells(row).map((value, at) => [names[at], value]));
        return { row, table, heading, values: { ...values, family } };
      });
    });
  }

  function headingOf(table) {
    const wrapped = table.closest(".md-typeset__scrollwrap") || table;
    let before = wrapped.previousElementSibling;
    while (before && before.tagName !== "H2") before = before.previousElementSibling;
    return before;
  }

  /** A rule that shows under any start method shows under each. */
  function fits(rule, column, wanted) {
    const value = rule.values[column];
    if (!wanted || value === wanted) return true;
    return column === "start method" && (value === "any" || value.split(", ").includes(wanted));
  }

  function select(column, label, found) {
    const values = new Set(found.flatMap((rule) => (column === "start method" ? rule.values[column].split(", ") : [rule.values[column]])));
    values.delete("any");
    const box = document.createElement("select");
    box.name = column;
    box.append(new Option("any", ""), ...Array.from(values, (value) => new Option(value, value)));
    const labelled = document.createElement("label");
    labelled.append(label, box);
    return labelled;
  }

  function makeAccessible() {
    document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
    for (const wide of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    }
  }

  function begin() {
    const content = document.querySelector(".md-content__inner");
    const found = content ? rules(content) : [];
    if (!found.length) return;
    const form = document.createElement("form");
    form.className = "filters";
    const told = document.createElement("output");
    for (const [column, label] of Object.entries({ family: "Family", ...COLUMNS })) form.append(select(column, label, found));
    form.append(told);
    const show = () => {
      const wanted = Array.from(new FormData(form).entries());
      const shown = found.filter((rule) => wanted.every(([column, value]) => fits(rule, column, value)));
      const parts = new Set(shown.flatMap((rule) => [rule.heading, rule.table]));
      for (const rule of found) {
        rule.row.hidden = !shown.includes(rule);
        rule.heading.hidden = rule.table.hidden = !parts.has(rule.heading);
      }
      told.textContent = `${shown.length} of ${found.length} rules`;
    };
    form.addEventListener("change", show);
    found[0].heading.before(form);
    show();
  }

  document.addEventListener("DOMContentLoaded", begin);
  window.addEventListener("load", makeAccessible);
})();
