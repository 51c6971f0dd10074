"""The page in the browser as a person uses it: what is seen is read, and only what is seen is clicked and typed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

#: Seconds in which something is to be seen; a busy machine is slow.
PATIENCE = 40.0

#: Begin at the top of the page, and note what has the focus.
_BEGIN = """
const begin = document.querySelector('h1');
begin.tabIndex = -1;
begin.focus();
window.reached = new Set();
for (const one of [document, document.querySelector('iframe').contentDocument])
  one?.addEventListener('focusin', ({ target }) => window.reached.add(target));
"""
#: Controls that are seen and can be used; of radio buttons, tabs and nodes one has the focus; arrow keys go to others.
_LEFT = """
const frame = document.querySelector('iframe');
const pages = [document, ...(frame.checkVisibility() ? [frame.contentDocument] : [])];
const all = pages.flatMap((one) =>
  [...one.querySelectorAll('button, input, select, textarea, summary, a[href], [role="button"]')]);
const is_used = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled
  && !(one.role === 'tab' && one.ariaSelected !== 'true') && !(one.type === 'radio' && !one.checked)
  && !(one.closest('#drawing') && one.tabIndex < 0);
return all.filter((one) => is_used(one) && !window.reached.has(one)).map((one) => one.outerHTML.slice(0, 200));
"""


class Desk:
    """An open page."""

    def __init__(self, browser: Chrome, address: str, downloads: Path) -> None:
        self.browser = browser
        self.downloads = downloads
        told = {"behavior": "allow", "downloadPath": str(downloads)}
        browser.execute_cdp_cmd("Page.setDownloadBehavior", told)
        browser.get("about:blank")
        browser.get(address)

    def all(self, css: str) -> list[WebElement]:
        """Return every element that a selector matches and that is seen."""
        found: list[WebElement] = self.browser.find_elements(By.CSS_SELECTOR, css)
        return [one for one in found if one.is_displayed()]

    def until(self, is_so: Callable[[], Any], what: str = "it") -> Any:
        """Wait until something is seen."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if found := is_so():
                    return found
            except WebDriverException:
                pass
            time.sleep(0.05)
        message = f"{what} was not seen; the page says: {self.text('body')[:9000]}"
        raise AssertionError(message)

    def find(self, css: str, words: str = "") -> WebElement:
        """Wait for an element with some words, and return the first one."""
        found: WebElement = self.until(lambda: self._first(css, words), f"{css} {words}")
        return found

    def _first(self, css: str, words: str) -> WebElement | None:
        return next((one for one in self.all(css) if words in one.text), None)

    def click(self, css: str, words: str = "") -> None:
        """Click what is seen; the page may draw it again meanwhile."""

        def is_clicked() -> bool:
            self.find(css, words).click()
            return True

        self.until(is_clicked, f"{css} {words}")

    def text(self, css: str) -> str:
        """Return the words of an element."""
        try:
            text: str = self.browser.find_element(By.CSS_SELECTOR, css).text
        except StaleElementReferenceException:
            return self.text(css)
        return text

    def says(self, css: str, words: str) -> None:
        """Wait until an element says something."""
        self.until(lambda: words in self.text(css), f"{words!r} in {css}")

    def type(self, css: str, words: str) -> None:
        """Type into a field in the place of what is there."""

        def is_there() -> bool:
            field = self.find(css)
            field.click()
            field.send_keys(Keys.CONTROL, "a")
            return True

        self.until(is_there, css)
        self.press(words)

    def choose(self, css: str, words: str) -> None:
        """Choose among words, as a click on the list does."""

        def is_chosen() -> bool:
            Select(self.find(css)).select_by_visible_text(words)
            return True

        self.until(is_chosen, f"{words} in {css}")

    def press(self, *keys: str) -> None:
        """Press keys where the focus is."""
        ActionChains(self.browser).send_keys(*keys).perform()

    def reach(self, css: str, *, back: bool = False) -> None:
        """Go to a control by Tab alone, or by Shift and Tab."""
        for _ in range(200):
            found = self.browser.execute_script("return document.activeElement.matches(arguments[0])", css)
            if found:
                return
            if back:
                ActionChains(self.browser).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
            else:
                self.press(Keys.TAB)
        message = f"Tab never came to {css}"
        raise AssertionError(message)

    def out_of_reach(self) -> list[str]:
        """Return the controls, those in the report among them, that Tab never comes to."""
        self.browser.execute_script(_BEGIN)
        for _ in range(250):
            self.press(Keys.TAB)
            if self.browser.execute_script("return document.activeElement === document.body"):
                break
        left: list[str] = self.browser.execute_script(_LEFT)
        return left

    def focused(self) -> WebElement:
        """Return the element that has the focus."""
        return self.browser.switch_to.active_element

    def tab(self, name: str) -> None:
        """Go to a step."""
        self.click(f"#tab-{name}")

    def is_settled(self) -> bool:
        """Return whether nothing is being worked out, and a part is drawn that fits what was said."""
        return not self.all("#busy, #stale")

    def settled(self) -> None:
        """Wait until a part is drawn that fits what was said, once the page had time to hear of it."""
        time.sleep(0.5)
        self.until(lambda: self.is_settled() and self.all("#report"), "the part")
        with self.report():
            self.until(lambda: self.all("#drawing .box"), "the drawing")

    @contextmanager
    def report(self) -> Iterator[None]:
        """Look into the report."""
        self.browser.switch_to.frame(self.find("#report"))
        try:
            yield
        finally:
            self.browser.switch_to.default_content()

    def drawn(self) -> set[str]:
        """Return the edges that the report lists, as a screen reader has them; none while it is drawn again."""
        try:
            with self.report():
                for tab in self.all("#tab-edges:not([aria-selected='true'])"):
                    tab.click()
                return {str(one.get_attribute("aria-label")) for one in self.all("#panel .edge")}
        except WebDriverException:
            self.browser.switch_to.default_content()
            return set()

    def take(self, name: str) -> Path:
        """Take a file away, and return where it is."""
        path = self.downloads / name
        path.unlink(missing_ok=True)
        self.click(f"[data-take='{name}']")
        self.until(path.exists, name)
        return path

    def complaints(self) -> list[str]:
        """Return what the browser logged since last asked."""
        return [entry["message"] for entry in self.browser.get_log("browser")]

    def faults(self, script: str) -> list[str]:
        """Return what axe finds serious on the page as it is, the report in its frame included."""
        found = []
        for is_inner in (False, True):
            if is_inner and not self.all("#report"):
                continue
            if is_inner:
                self.browser.switch_to.frame(self.find("#report"))
            self.browser.execute_script(script)
            told = self.browser.execute_async_script(
                "axe.run({ iframes: false }).then(arguments[arguments.length - 1])"
            )
            found += [
                f"{one['id']}: {one['help']}: {node['html']}"
                for one in told["violations"]
                if one["impact"] in {"serious", "critical"}
                for node in one["nodes"]
            ]
            self.browser.switch_to.default_content()
        return found
