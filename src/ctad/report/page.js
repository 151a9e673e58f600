"use strict";
(() => {
  const ROWS_AT_FIRST = 20;
  // Pixels that fit between the margins of A4 and Letter, for one chart and for two side by side.
  const PAPER_WIDTH = 640;
  const HALF_PAPER_WIDTH = 300;

  startTable();
  startCharts();

  function startTable() {
    const table = document.getElementById("alerts-table");
    if (!table) return;
    const bodies = [...table.tBodies]; // one per alert: its row and its explanation

    for (const opener of table.querySelectorAll(".opener")) {
      const why = document.getElementById(opener.getAttribute("aria-controls"));
      opener.addEventListener("click", () => {
        why.hidden = !why.hidden;
        opener.setAttribute("aria-expanded", String(!why.hidden));
      });
    }

    const headers = [...table.tHead.rows[0].cells];
    headers.forEach((header, column) => {
      const button = header.querySelector("button");
      button.addEventListener("click", () => {
        const ascending = header.getAttribute("aria-sort") !== "ascending";
        headers.forEach((other) => other.setAttribute("aria-sort", "none"));
        header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
        sort(column, button.dataset.kind === "number", ascending ? 1 : -1);
      });
    });

    function sort(column, isNumber, direction) {
      const key = (body) => {
        const cell = body.rows[0].cells[column];
        return isNumber ? Number(cell.dataset.value) : cell.textContent.trim();
      };
      const compared = (a, b) => (isNumber ? (a > b) - (a < b) : a.localeCompare(b));
      bodies.sort((a, b) => direction * compared(key(a), key(b)));
      table.append(...bodies);
      update();
    }

    const find = document.getElementById("find");
    const only = document.getElementById("only"); // null if no rows are selected
    const shown = document.getElementById("shown");
    const more = document.getElementById("more");
    let isWhole = bodies.length <= ROWS_AT_FIRST;
    // Numbers can be searched for with and without thousands separators.
    const texts = new Map(bodies.map((body) => {
      const text = body.textContent.toLowerCase();
      return [body, text + text.replaceAll(/(\d),(?=\d)/g, "$1")];
    }));

    function update() {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      // A search shows all matches; otherwise only the first rows are shown.
      const most = words.length || only?.checked || isWhole ? Infinity : ROWS_AT_FIRST;
      let count = 0;
      for (const body of bodies) {
        const isFound = words.every((word) => texts.get(body).includes(word));
        const fits = isFound && (!only?.checked || body.dataset.selected);
        body.hidden = !fits || count >= most;
        count += !body.hidden;
      }
      shown.textContent = `${count} of ${bodies.length} rows shown`;
      more.hidden = count < most;
    }
    find.addEventListener("input", update);
    only?.addEventListener("change", update);
    more.addEventListener("click", () => {
      isWhole = true;
      const next = bodies.find((body) => body.hidden);
      update();
      next?.querySelector("button").focus();
    });
    update(); // browsers keep the text of inputs when a page is reloaded
  }

  function startCharts() {
    const figures = JSON.parse(document.getElementById("figures").textContent);
    const config = {
      displayModeBar: false, scrollZoom: false, doubleClick: false, showTips: false, responsive: true,
    };
    const waiting = Object.keys(figures).map((name) => document.getElementById("chart-" + name));
    const drawn = [];

    // plotly.js is large: it is loaded when the page is already visible and usable.
    function loadPlotly() {
      const code = document.createElement("script");
      code.textContent = document.getElementById("plotly").textContent;
      document.head.append(code);
    }

    function distanceFromScreen(place) {
      const { top, bottom } = place.getBoundingClientRect();
      return Math.max(top - innerHeight, -bottom, 0);
    }

    // The charts on the screen first.
    function drawNext() {
      waiting.sort((a, b) => distanceFromScreen(a) - distanceFromScreen(b));
      const place = waiting.shift();
      const figure = figures[place.id.replace("chart-", "")];
      Plotly.newPlot(place, figure.data, figure.layout, config);
      drawn.push(place);
    }

    // One chart at a time, so that the page can be scrolled meanwhile.
    function drawAll() {
      if (!waiting.length) {
        document.documentElement.dataset.charts = "drawn";
        return;
      }
      if (window.Plotly) drawNext();
      else loadPlotly();
      setTimeout(drawAll);
    }
    setTimeout(drawAll, 50);

    // Charts do not adapt to the width of the paper by themselves.
    addEventListener("beforeprint", () => {
      if (!window.Plotly && waiting.length) loadPlotly();
      while (waiting.length) drawNext();
      for (const place of drawn) {
        const width = place.closest(".alone") ? PAPER_WIDTH : HALF_PAPER_WIDTH;
        Plotly.relayout(place, { autosize: false, width });
      }
    });
    addEventListener("afterprint", () => {
      drawn.forEach((place) => Plotly.relayout(place, { autosize: true, width: null }));
    });
  }
})();
