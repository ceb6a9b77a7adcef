#!/usr/bin/env python3
"""look_at_report.py PAGE FOLDER: opens a report in headless Chromium at several sizes, checks it and keeps pictures."""

import base64
import pathlib
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

PHONE, DESKTOP = 360, 1200  # pixels wide

# What stands out of the window on the right, by what it is.
OVERFLOW = """
const width = document.documentElement.clientWidth;
const found = [...document.body.querySelectorAll('*')].filter(
    each => !each.closest('#hint') && each.getBoundingClientRect().right > width + 0.5);
return document.documentElement.scrollWidth > width || found.length > 0
    ? found.slice(0, 3).map(each => each.outerHTML.slice(0, 100)).join('; ') || 'the page'
    : '';
"""

# Texts of one chart that lie on each other, or outside it.
COLLISIONS = """
const words = [];
for (const svg of document.querySelectorAll('figure svg')) {
    const frame = svg.getBoundingClientRect();
    const boxes = [...svg.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
    for (const [text, box] of boxes) {
        if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
            words.push(`'${text}' leaves its chart`);
        }
        for (const [other, its] of boxes) {
            if (box !== its && box.left < its.right - 1 && its.left < box.right - 1 && box.top < its.bottom - 2 &&
                its.top < box.bottom - 2) {
                words.push(`'${text}' lies on '${other}'`);
            }
        }
    }
}
return words.slice(0, 5).join('; ');
"""

# Charts that tell nothing where their first mark is pointed at.
DUMB = """
const hint = document.getElementById('hint');
return [...document.querySelectorAll('figure svg')].filter(svg => {
    const mark = svg.querySelector('.mark');
    if (!mark) return true;
    const box = mark.getBoundingClientRect();
    const at = {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2};
    svg.dispatchEvent(new PointerEvent('pointermove', at));
    const told = !hint.hidden && hint.textContent.length > 10;
    const inside = hint.getBoundingClientRect().left >= 0 &&
        hint.getBoundingClientRect().right <= document.documentElement.clientWidth;
    svg.dispatchEvent(new PointerEvent('pointerleave'));
    return !told || !inside || !hint.hidden;
}).map(svg => svg.getAttribute('aria-label')).join('; ');
"""


def look(driver, page, width, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == PHONE})
    driver.get(page.resolve().as_uri())
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    found = [f"error: {entry['message']}" for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    for what, script in (("too wide", OVERFLOW), ("collision", COLLISIONS), ("not hoverable", DUMB)):
        if result := driver.execute_script(script):
            found.append(f"{what}: {result}")
    if driver.execute_script("return document.querySelectorAll('figure svg').length") == 0:
        found.append("there is no chart")
    return [f"{width} pixels, {scheme}: {each}" for each in found]


def picture(driver, file):
    height = driver.execute_script("return document.documentElement.scrollHeight")
    width = driver.execute_script("return document.documentElement.clientWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    file.write_bytes(base64.b64decode(shot["data"]))


def main():
    page, folder = map(pathlib.Path, sys.argv[1:])
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        found = []
        for width in PHONE, DESKTOP:
            for scheme in "light", "dark":
                found += look(driver, page, width, scheme)
                picture(driver, folder / f"{width}_{scheme}.png")
        paper = {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69}  # inches
        printed = driver.execute_cdp_cmd("Page.printToPDF", paper)
        (folder / "printed.pdf").write_bytes(base64.b64decode(printed["data"]))
    finally:
        driver.quit()
    for each in found:
        print(each, file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
