"""Two pictures of the same place compared, by the browser that can read them."""

# ruff: noqa: E501 - the long line is of a page

from __future__ import annotations

import base64
from dataclasses import dataclass

from playwright.sync_api import BrowserContext, Locator

_COMPARE = """async (pictures) => {
  const [first, second] = await Promise.all(pictures.map(async (picture) => {
    const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], {type: 'image/png'}));
    const context = new OffscreenCanvas(image.width, image.height).getContext('2d', {willReadFrequently: true});
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  }));
  if (first.width !== second.width || first.height !== second.height) return [1, 255, 0];
  let changed = 0, largest = 0, marked = 0;
  const one = first.data, other = second.data;
  for (let at = 0; at < one.length; at += 4) {
    const by = Math.max(Math.abs(one[at] - other[at]), Math.abs(one[at + 1] - other[at + 1]), Math.abs(one[at + 2] - other[at + 2]));
    if (by > 8) changed += 1;
    if (by > largest) largest = by;
    if (other[at] > 250 && other[at + 1] < 5 && other[at + 2] > 250) marked += 1;
  }
  return [changed / (one.length / 4), largest, marked];
}"""


@dataclass(frozen=True, slots=True)
class Difference:
    """How far the second picture is from the first one."""

    share: float
    """Part of the points that differ by more than the rounding of the edges of letters and icons."""
    largest: int
    """The largest difference of one point in one colour, of 255."""
    magenta: int
    """How many points of the second picture are of the colour that only hostile halves use."""

    @property
    def same(self) -> bool:
        return self.share < 0.001 and self.largest < 96


def compare(context: BrowserContext, first: bytes, second: bytes) -> Difference:
    """Compare two PNG pictures, in a page of its own."""
    page = context.new_page()
    share, largest, magenta = page.evaluate(_COMPARE, [base64.b64encode(one).decode() for one in (first, second)])
    page.close()
    return Difference(share, largest, magenta)


def inside(place: Locator, masked: str) -> bytes:
    """Take a picture of a place without its rounded rim, with what is `masked` (what changes with time) struck out."""
    box = place.bounding_box()
    assert box is not None
    clip = {"x": box["x"] + 4, "y": box["y"] + 4, "width": box["width"] - 8, "height": box["height"] - 8}
    mask = [place.locator(masked)]
    return place.page.screenshot(clip=clip, mask=mask, mask_color="#808080", animations="disabled")  # type: ignore[arg-type]
