//! The pairing of a format's decoder with its framing, for [`ChatCodec`](llm_core::ChatCodec)'s users. It is the same
//! for all formats but in names, and written once here.

/// Writes `ChatCodec` for a codec with the fields `dialect` and `options`, with the functions and the `StreamDecoder`
/// of the format that it stands in. The framing gives server-sent events, or what looks like them.
macro_rules! codec_of_events {
    ($codec:ident, $framings:expr, $frames:ty) => {
        crate::codec::codec!($codec, $framings, $frames);

        impl Streamed {
            fn take(&mut self, piece: &[u8], out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                use crate::frame::SseItem;
                let decoder = &mut self.decoder;
                self.frames.feed(piece, |item| {
                    match item {
                        SseItem::Event(event) => decoder.feed(event.event, event.data, out)?,
                        _ => decoder.keep_alive(out),
                    }
                    Ok(())
                })
            }

            fn take_rest(&mut self, out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                use crate::frame::SseItem;
                let decoder = &mut self.decoder;
                self.frames.finish(|item| match item {
                    SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, out),
                    _ => Ok(()),
                })
            }
        }
    };
}

/// The same where the framing gives lines.
macro_rules! codec_of_lines {
    ($codec:ident) => {
        crate::codec::codec!(
            $codec,
            &[llm_core::Framing::Lines],
            crate::frame::NdjsonDecoder
        );

        impl Streamed {
            fn take(&mut self, piece: &[u8], out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                let decoder = &mut self.decoder;
                self.frames.feed(piece, |line| decoder.feed(line, out))
            }

            fn take_rest(&mut self, out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                let decoder = &mut self.decoder;
                self.frames
                    .finish(|line| decoder.feed_unterminated(line, out))
            }
        }
    };
}

/// What both have; `Streamed` still needs `take` and `take_rest`.
macro_rules! codec {
    ($codec:ident, $framings:expr, $frames:ty) => {
        impl $codec {
            fn options(&self, meta: llm_core::ResponseMeta) -> DecodeOptions {
                DecodeOptions {
                    meta,
                    ..self.options.clone()
                }
            }
        }

        impl llm_core::ChatCodec for $codec {
            fn framings(&self) -> &'static [llm_core::Framing] {
                $framings
            }

            fn decoder(
                &self,
                _: llm_core::Framing,
                meta: llm_core::ResponseMeta,
                max_frame_bytes: usize,
            ) -> Box<dyn llm_core::AnswerDecoder> {
                Box::new(Streamed {
                    frames: <$frames>::new(max_frame_bytes),
                    decoder: StreamDecoder::new(&self.dialect, self.options(meta)),
                })
            }

            fn decode_response(
                &self,
                meta: llm_core::ResponseMeta,
                body: &[u8],
            ) -> llm_core::Result<llm_core::ChatResponse> {
                decode_response(&self.dialect, self.options(meta), body)
            }

            fn decode_error(&self, status: u16, body: &[u8]) -> llm_core::Error {
                decode_error(&self.dialect, Some(status), body)
            }
        }

        /// A streamed answer.
        #[derive(Debug)]
        struct Streamed {
            frames: $frames,
            decoder: StreamDecoder,
        }

        impl llm_core::AnswerDecoder for Streamed {
            fn push(&mut self, piece: &[u8], out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                self.take(piece, out)
            }

            fn end(&mut self, out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                self.take_rest(out)
            }

            fn is_done(&self) -> bool {
                self.decoder.is_done()
            }

            fn is_complete(&self) -> bool {
                self.decoder.is_complete()
            }

            fn finish(&mut self, out: &mut Vec<llm_core::ChatEvent>) -> llm_core::Result<()> {
                self.decoder.finish(out)
            }

            fn interrupt(&mut self, out: &mut Vec<llm_core::ChatEvent>) {
                self.decoder.interrupt(out);
            }

            fn phase(&self) -> llm_core::Phase {
                self.decoder.phase()
            }
        }
    };
}

pub(crate) use {codec, codec_of_events, codec_of_lines};
