// Before anything is drawn, so that a dark room never sees a white flash.
(function () {
  try {
    var theme = localStorage.getItem("parlour.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (refused) {
    // storage is closed to us: the system's theme holds
  }
})();
