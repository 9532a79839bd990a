/** What of a picture shows in its frame: where its corner is there, in pixels, and how large it is. */
export interface View {
  x: number;
  y: number;
  zoom: number;
}

export interface Extent {
  w: number;
  h: number;
}

const SMALLEST = 0.05;
const LARGEST = 2;
/** The share of the frame that stays empty around a picture that is fitted in. */
const MARGIN = 0.04;
/** So much of the picture always shows, in pixels of the frame: it cannot get lost. */
const KEPT = 48;

function between(least: number, value: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

/** The whole picture in the middle of its frame, not larger than it is. */
export function fitted(picture: Extent, frame: Extent): View {
  const room = 1 - 2 * MARGIN;
  const zoom = between(SMALLEST, Math.min((frame.w * room) / picture.w, (frame.h * room) / picture.h), 1);
  return { x: (frame.w - picture.w * zoom) / 2, y: (frame.h - picture.h * zoom) / 2, zoom };
}

/** The picture so many times as large; what is at a point of the frame stays there. */
export function zoomed(view: View, times: number, x: number, y: number): View {
  const zoom = between(SMALLEST, view.zoom * times, LARGEST);
  const by = zoom / view.zoom;
  return { x: x - (x - view.x) * by, y: y - (y - view.y) * by, zoom };
}

/** A place of the picture in the middle of the frame. */
export function centred(at: { x: number; y: number }, zoom: number, frame: Extent): View {
  return { x: frame.w / 2 - at.x * zoom, y: frame.h / 2 - at.y * zoom, zoom };
}

/** The nearest view in which something of the picture shows. */
export function kept(view: View, picture: Extent, frame: Extent): View {
  const along = (at: number, length: number, room: number): number =>
    between(Math.min(KEPT, room / 2) - length * view.zoom, at, room - Math.min(KEPT, room / 2));
  return { x: along(view.x, picture.w, frame.w), y: along(view.y, picture.h, frame.h), zoom: view.zoom };
}
