// The theme turns <i> into <svg>; widgets keep their <i>, so the svg goes inside.
window.FontAwesomeConfig = { autoReplaceSvg: "nest" };
