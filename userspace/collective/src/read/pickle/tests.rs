use super::{is_pickle, json};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// By Python's `pickle.dumps` of a dictionary whose list has one entry twice.
const OF_PYTHON: [&[u8]; 2] = [
    b"\x80\x02}q\x00(X\x07\x00\x00\x00versionq\x01X\x03\x00\x00\x002.5q\x02X\x07\x00\x00\x00entriesq\x03]q\x04(}q\x05(X\x0d\x00\x00\x00process_groupq\x08X\x01\x00\x00\x000q\tX\x07\x00\x00\x00defaultq\n\x86q\x0bX\x0f\x00\x00\x00time_created_nsq\r\x8a\x08\x00\x00\xc8|\xe3\xd4\xe9\x18X\x0b\x00\x00\x00duration_msq\x0eG?\xf8\x00\x00\x00\x00\x00\x00X\x06\x00\x00\x00is_p2pq\x11\x89X\x04\x00\x00\x00noneq\x12NX\x01\x00\x00\x00nq\x13J\x90\xee\xfe\xffX\x01\x00\x00\x00mq\x14M,\x01uh\x05eu.",
    b"\x80\x04\x95\xa1\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x07version\x94\x8c\x032.5\x94\x8c\x07entries\x94]\x94(}\x94(\x8c\rprocess_group\x94\x8c\x010\x94\x8c\x07default\x94\x86\x94\x8c\x0ftime_created_ns\x94\x8a\x08\x00\x00\xc8|\xe3\xd4\xe9\x18\x8c\x0bduration_ms\x94G?\xf8\x00\x00\x00\x00\x00\x00\x8c\x06is_p2p\x94\x89\x8c\x04none\x94N\x8c\x01n\x94J\x90\xee\xfe\xff\x8c\x01m\x94M,\x01uh\x05eu.",
];

#[test]
fn pickles_of_python_are_read() {
    let entry = r#"{"process_group":["0","default"],"time_created_ns":1795200000000000000,"duration_ms":1.5,"is_p2p":false,"none":null,"n":-70000,"m":300}"#;
    let expected = alloc::format!(r#"{{"version":"2.5","entries":[{entry},{entry}]}}"#);
    for bytes in OF_PYTHON {
        assert!(is_pickle(bytes));
        assert_eq!(json(bytes), Ok(expected.clone()));
    }
}

/// As `PyTorch` writes it: each text and function is named when it is first written, and lists and dictionaries are
/// arguments of a function.
#[derive(Default)]
struct Pytorch {
    bytes: Vec<u8>,
    names: Vec<String>,
}

impl Pytorch {
    fn named(&mut self, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
        match self.names.iter().position(|known| known == name) {
            Some(at) => self.bytes.extend([b'h', u8::try_from(at).unwrap()]),
            None => {
                write(&mut self.bytes);
                self.bytes.extend([b'q', u8::try_from(self.names.len()).unwrap()]);
                self.names.push(name.into());
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.named(text, |bytes| {
            bytes.push(b'X');
            bytes.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
            bytes.extend(text.bytes());
        });
    }

    fn typed(&mut self, kind: &str, empty: u8, end: u8, write: impl FnOnce(&mut Self)) {
        let function = "torch.jit._pickle\nrestore_type_tag\n";
        self.named(function, |bytes| {
            bytes.push(b'c');
            bytes.extend(function.bytes());
        });
        self.bytes.extend([empty, b'(']);
        write(self);
        self.bytes.push(end);
        self.text(kind);
        self.bytes.extend([0x86, b'R']);
    }

    fn dictionary(&mut self, write: impl FnOnce(&mut Self)) {
        self.typed("Dict[Any, Any]", b'}', b'u', write);
    }

    fn list(&mut self, write: impl FnOnce(&mut Self)) {
        self.typed("List[Any]", b']', b'e', write);
    }
}

fn of_pytorch() -> Vec<u8> {
    let mut dump = Pytorch::default();
    dump.bytes.extend([0x80, 2]);
    dump.dictionary(|dump| {
        dump.text("version");
        dump.text("2.10");
        dump.text("entries");
        dump.list(|dump| {
            for sequence in 6..8 {
                dump.dictionary(|dump| {
                    dump.text("frames");
                    dump.list(|dump| dump.text("train.py"));
                    dump.text("collective_seq_id");
                    dump.bytes.extend([b'K', sequence]);
                    dump.text("input_sizes");
                    dump.list(|dump| dump.list(|dump| dump.bytes.extend([b'K', 3])));
                });
            }
        });
    });
    dump.bytes.push(b'.');
    dump.bytes
}

#[test]
fn a_dump_of_pytorch_is_read_without_call_stacks() {
    let expected = r#"{"version":"2.10","entries":[{"collective_seq_id":6,"input_sizes":[[3]]},{"collective_seq_id":7,"input_sizes":[[3]]}]}"#;
    assert_eq!(json(&of_pytorch()).as_deref(), Ok(expected));
}

#[test]
fn damage_is_refused_with_its_place() {
    let whole = of_pytorch();
    for end in 0..whole.len() {
        let damaged = json(&whole[..end]).unwrap_err();
        assert!(damaged.at <= end, "{damaged}");
    }
    // Any byte may be any other: an error or JSON, whatever it means.
    for at in 0..whole.len() {
        for byte in 0..=u8::MAX {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            if let Ok(text) = json(&bytes) {
                serde_json::from_str::<serde_json::Value>(&text).unwrap();
            }
        }
    }
}

#[test]
fn values_without_end_are_refused() {
    // A list in itself, and lists of ten that are ten times in the next.
    assert!(
        json(b"\x80\x02]q\x00h\x00a.")
            .unwrap_err()
            .to_string()
            .contains("without end")
    );
    let mut bytes = Vec::from(*b"\x80\x02]q\x00");
    for _ in 0..20 {
        bytes.extend(b"](h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00eq\x00");
    }
    bytes.push(b'.');
    assert!(json(&bytes).unwrap_err().to_string().contains("too long"));
}
